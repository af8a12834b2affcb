/* From the paths of a policy to the places the kernel will see. */
#ifndef RESOLVE_H
#define RESOLVE_H

#include "path_tree.h"

/*
 * The canonical form of an absolute path: symlinks followed. For a path that does not exist, its longest existing part
 * is resolved and the rest stays as written; with `must_exist` that is refused, under the name `stage`.
 */
const char *resolve_path(const char *path, const char *stage, bool must_exist, u64 *mount_id);

/* Guards a path as it is written, as it resolves, where a dangling symlink points, and at every mounted alias. */
void guard_path(const char *path, enum guard guard);

#endif
