/*
 * What the helper tells the runtime, as lines of JSON on a descriptor that was opened before the sandbox and that the
 * sandboxed program never has.
 */
#ifndef REPORT_H
#define REPORT_H

#include "supervise.h"
#include "system.h"

/* Where reports go; the error stream until the command line has been read. */
extern int report_fd;

/* Refuses to run anything: reports the stage and errno, ends with 125. */
void refuse(const char *stage, long error, const char *path) __attribute__((noreturn));

/* The program runs under the whole policy. */
void report_started(long pid);

void report_end(const struct run *run, int landlock_abi, long rules);

#endif
