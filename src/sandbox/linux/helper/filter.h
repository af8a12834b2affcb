/* The seccomp filter: a list of refusals, all else is allowed. */
#ifndef FILTER_H
#define FILTER_H

#include "kernel.h"
#include "policy.h"

struct filter_options {
  /* Refusals go to the supervisor, which counts and answers them; else the kernel answers, uncounted. */
  bool has_listener;
  /* Every listing of a folder goes to the supervisor. */
  bool gates_listing;
  int landlock_version;
  /* The process that the filter is for. */
  u32 pid;
};

struct bpf_program filter_build(const struct policy *policy, const struct filter_options *options);

#endif
