/* What the helper does when it is run inside the sandbox to find out whether that holds. */
#ifndef SELF_TEST_H
#define SELF_TEST_H

#include "system.h"

/*
 * Tries one thing of every kind that the floor refuses, and controls that it allows, and prints an object of their errnos.
 * `folder` holds `plain`, `secret/key` and an empty folder `granted`.
 */
void self_test(const char *folder) __attribute__((noreturn));

#endif
