/* The processes that came from the helper. */
#ifndef PROCESSES_H
#define PROCESSES_H

#include "system.h"

/* Whether this kernel tells a process's children; needed to count and to end them. */
bool processes_can_be_listed(void);

/* How many processes live below this one, at most `most`. */
int processes_count(int most);

/* Whether `pid`, a process or a thread of one, lives below this one. */
bool processes_have(long pid);

/* Sends SIGKILL to everything below this one; gives how many there were. */
int processes_kill(void);

#endif
