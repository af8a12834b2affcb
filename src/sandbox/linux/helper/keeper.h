/*
 * Building a rule set takes some microseconds for every entry of the folders above guarded paths. For large homes the runtime starts one
 * more helper, the keeper, which holds rule sets between runs. It judges nothing: whoever takes one out looks whether it
 * still fits, and builds its own when not.
 */
#ifndef KEEPER_H
#define KEEPER_H

#include "policy.h"

/* `helper --keep SOCKET`: serves until its stdin ends. */
void keep(const char *socket_path) __attribute__((noreturn));

/* The kept rule set that fits what has been drawn together so far and still holds; -1 when there is none. */
int keeper_fetch(const struct policy *policy);

/* Leaves a rule set that was built with evidence. */
void keeper_offer(const struct policy *policy, int rule_set);

#endif
