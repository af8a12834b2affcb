/* Bind mounts and the like show one folder at several places; a guarded path is guarded at each. */
#ifndef MOUNTS_H
#define MOUNTS_H

#include "path_tree.h"

/* Reads the mount table; refuses when it cannot be read whole. */
void mounts_load(void);

/* Marks every other place that shows what `path` (canonical, lying on mount `mount_id`) names. */
void mounts_mark_aliases(const char *path, u64 mount_id, enum guard guard);

#endif
