/* The child's side: from a copy of the helper to the confined program. */
#ifndef CONFINE_H
#define CONFINE_H

#include "policy.h"

enum child_stage {
  CHILD_STARTING,
  CHILD_DEATH_SIGNAL,
  CHILD_LIMITS,
  CHILD_PRIVILEGES,
  CHILD_CAPABILITIES,
  CHILD_DESCRIPTORS,
  CHILD_FILTER,
  CHILD_LISTENER,
  CHILD_LANDLOCK,
  CHILD_EXECUTE,
};

/* Shared between both. The supervisor reads how far the child came once that has executed or ended. */
struct child_state {
  const struct policy *policy;
  int rule_set, landlock_version;
  volatile int stage;
  volatile long error;    /* of that stage; 0 while all is well */
  volatile int listener;  /* descriptor of the seccomp listener, in the shared table; -1 when there is none */
};

/* Never returns: executes the program, or ends with what went wrong in `state`. */
void confine_and_execute(void *state) __attribute__((noreturn));

/* The name of a stage in reports. */
const char *child_stage_name(int stage);

#endif
