/* The test attacker: each operation tries one thing and tells the errno. It never gives up, and never cleans up. */
#ifndef ATTACKER_H
#define ATTACKER_H

#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Gives what the system call gave, with errno set on failure; `say` adds a text to the answer. */
struct operation {
  const char *name;
  int arguments;
  long (*run)(char **arguments);
};

extern const struct operation process_operations[], file_operations[], metadata_operations[], socket_operations[],
    kernel_operations[];

void say(const char *text);
long number(const char *text);

#endif
