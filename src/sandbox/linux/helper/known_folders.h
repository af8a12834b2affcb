/*
 * Most guarded paths lie in few folders, and most do not exist. Where no part of a path is a symlink it is its own canonical
 * form, so it only has to be looked for, beside the others of its folder.
 */
#ifndef KNOWN_FOLDERS_H
#define KNOWN_FOLDERS_H

#include "system.h"

/*
 * Whether `path`, absolute and plain, is canonical: no part of it that exists is a symlink. `mount_id` is then that of its
 * longest existing part. False also where that cannot be told.
 */
bool is_canonical(const char *path, u64 *mount_id);

/* Closes what was kept open, so that no folder is held while the program runs. */
void forget_folders(void);

#endif
