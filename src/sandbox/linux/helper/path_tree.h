/* The guarded paths as a tree of names: what may never be read, and what may never be written. */
#ifndef PATH_TREE_H
#define PATH_TREE_H

#include "system.h"

struct node {
  const char *name;
  size_t length;
  struct node *children, *next;
  bool denied, read_only;
  bool denied_below, guarded_below; /* guarded: denied or read-only */
};

enum guard { GUARD_DENIED, GUARD_READ_ONLY };

/* How a canonical path stands to the guarded ones. */
enum standing { STANDS_FREE, STANDS_DENIED, STANDS_READ_ONLY, STANDS_ABOVE_GUARDED };

struct node *tree_root(void);
void tree_mark(const char *path, enum guard guard);
enum standing tree_standing(const char *path);
/* The node of exactly this path, or none. */
struct node *tree_find(const char *path);
struct node *tree_child(const struct node *node, const char *name, size_t length);

#endif
