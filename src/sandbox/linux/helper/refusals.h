/*
 * The system calls that are refused whole, in one table for the filter, which refuses them, and for the supervisor, which counts
 * them and gives the errno.
 */
#ifndef REFUSALS_H
#define REFUSALS_H

#include "system.h"

enum refusal_kind {
  /* Changes of metadata, which Landlock does not mediate. With write_paths the supervisor makes some itself. */
  REFUSED_METADATA,
  /* Reaches into other processes, the kernel or the machine. */
  REFUSED_KERNEL,
  /* Has a fallback in every C library, so it is answered as absent, in the kernel, and not counted. */
  REFUSED_ABSENT,
};

struct refusal {
  short number;
  u8 kind;
};

extern const struct refusal refusals[];
extern const int refusal_count;

/* The row of a call, or none. */
const struct refusal *refusal_of(int number);

#endif
