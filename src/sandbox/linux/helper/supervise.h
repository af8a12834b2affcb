/* The supervisor's side: starts the program, answers its questions, ends what it leaves, reports. */
#ifndef SUPERVISE_H
#define SUPERVISE_H

#include "policy.h"

/* Refusals, counted by what they refuse. */
struct denials {
  long fork;          /* processes, without `subprocess` */
  long fork_budget;   /* processes beyond the budget, with it */
  long inet, unix_socket, other_socket;
  long metadata, listing, other;
};

struct run {
  int status;         /* of the program, as wait4 gives it */
  bool timed_out, terminated, had_listener;
  int listener;       /* -1 when there is none, or nobody is left to ask */
  int left_killed;    /* processes that were alive when the program had ended */
  bool ending;        /* no process is made any more */
  long forks;         /* processes that were let pass */
  long setup_us;      /* from the start of the helper to the start of the program */
  struct denials denied;
};

void supervise(const struct policy *policy, int rule_set, int landlock_version, long started_us)
    __attribute__((noreturn));

#endif
