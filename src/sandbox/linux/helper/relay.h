/*
 * Some runtimes hand sockets out as standard streams. Programs are to have pipes: a shell cannot reopen a socket as
 * /dev/stderr, bash takes one for a remote shell and reads start-up files, and a socket can carry descriptors in. So where a
 * standard stream is a socket the supervisor stands between, with a pipe on the program's side.
 */
#ifndef RELAY_H
#define RELAY_H

#include "kernel.h"

#define RELAY_STREAMS 3

/* Puts pipes in place of sockets at descriptors 0, 1 and 2, before the program is started. */
void relay_prepare(void);

/* The program has its streams: the supervisor's own copies go, so that only the program holds them open. */
void relay_release(void);

/* What each stream waits for; a descriptor of -1 waits for nothing. */
void relay_want(struct poll_entry entries[RELAY_STREAMS]);
void relay_move(const struct poll_entry entries[RELAY_STREAMS]);

/* The program has ended: no more input; whether output is still on its way. */
void relay_stop_input(void);
bool relay_has_output(void);

#endif
