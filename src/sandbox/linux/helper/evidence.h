/*
 * What a rule set was built from. A rule set may be used again only while another look would give the same one: the same policy
 * and mounts, and the same entries in every folder that was gone through.
 */
#ifndef EVIDENCE_H
#define EVIDENCE_H

#include "system.h"

/* Everything by which two policies, or two machines' mounts, may differ, drawn together. */
struct fingerprint {
  u64 halves[2];
};
void fingerprint_add(const void *bytes, size_t length);
struct fingerprint fingerprint_now(void);

/* The building begins: what changes from now on is not to be missed. */
void evidence_begin(void);
/* A folder that is about to be gone through: whoever adds or removes an entry later is noticed. */
void evidence_folder(long fd);
/* A file or folder that gets a rule of its own: another one in its place is noticed. */
void evidence_object(long fd);

/* The evidence as bytes; none when it does not hold, because something changed just now or there is too much of it. */
const char *evidence_bytes(size_t *size);
/* Whether everything is still as the evidence says. */
bool evidence_holds(const char *bytes, size_t size);

#endif
