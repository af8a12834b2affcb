/*
 * Landlock does not mediate chmod and utimes, so the filter refuses them. Under write_paths the supervisor makes the
 * change itself, on a descriptor of its own, after looking what that descriptor really is: nothing can be swapped meanwhile.
 */
#ifndef METADATA_H
#define METADATA_H

#include "kernel.h"

/* Makes the change that was asked for, or not: 0, or a negative errno. */
long metadata_change(const struct seccomp_question *question, int listener);

#endif
