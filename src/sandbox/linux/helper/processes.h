/* The processes that came from the helper. */
#ifndef PROCESSES_H
#define PROCESSES_H

#include "system.h"

/* Whether this kernel tells a process's children; needed to count and to end them. */
bool processes_can_be_listed(void);

/*
 * Which thread is let make a process, and that one of these is heard of again: between the two, its child may not be there yet.
 * The thread that asks is never in the middle of making one.
 */
void processes_let_make(int thread);
void processes_heard_of(int thread);

/* How many processes live below this one or are about to, at most `most` of each: rather more than fewer. */
int processes_count(int most);

/* Whether `pid`, a process or a thread of one, lives below this one. */
bool processes_have(long pid);

/* Sends SIGKILL to everything below this one; gives how many there were. */
int processes_kill(void);

#endif
