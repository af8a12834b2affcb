/*
 * The Landlock rule set. Landlock knows no "except": a folder is allowed with all that is in it. So a folder above a guarded
 * path gets no rule itself; each of its entries but the guarded one does.
 */
#ifndef RULES_H
#define RULES_H

#include "policy.h"

/* Version of the kernel's Landlock, or of the one that the policy assumes; refuses where there is none. */
int landlock_version(const struct policy *policy);

/* Marks the guarded paths; the mount table is loaded already. */
void rules_guard(const struct policy *policy);

/* Resolves the granted paths, and refuses what may not be granted; guarded paths are marked already. */
void rules_grant(const struct policy *policy);

/* The rule set around what is marked and granted, built or taken from the keeper. Gives its descriptor. */
int rules_make(const struct policy *policy, int version);

/* Whether it was built by this run. */
bool rules_were_built(void);

/*
 * Allows listing everywhere in this rule set. Only where the supervisor decides on every listing: without it a folder
 * above a guarded path could not be listed at all.
 */
void rules_allow_listing(void);

long rules_count(void);

/* The granted folders, canonical. */
const struct text_list *rules_granted(void);

#endif
