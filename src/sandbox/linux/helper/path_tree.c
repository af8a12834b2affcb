#include "path_tree.h"

#include "evidence.h"
#include "text.h"

static struct node root;

struct node *tree_root(void) { return &root; }

struct node *tree_child(const struct node *node, const char *name, size_t length) {
  for (struct node *child = node->children; child; child = child->next)
    if (child->length == length && bytes_equal(child->name, name, length)) return child;
  return 0;
}

/* The next name of a path, after `*at`, which moves behind it; its length is 0 at the end. */
static size_t next_name(const char **at, const char **name) {
  const char *path = *at;
  while (*path == '/') path++;
  *name = path;
  while (*path && *path != '/') path++;
  *at = path;
  return (size_t)(path - *name);
}

void tree_mark(const char *path, enum guard guard) {
  fingerprint_add(path, text_length(path));
  fingerprint_add(&guard, sizeof guard);
  struct node *node = &root;
  const char *name;
  size_t length;
  while ((length = next_name(&path, &name))) {
    node->guarded_below = true;
    if (guard == GUARD_DENIED) node->denied_below = true;
    struct node *child = tree_child(node, name, length);
    if (!child) {
      child = allocate(sizeof *child);
      child->name = copy_text(name, length);
      child->length = length;
      child->next = node->children;
      node->children = child;
    }
    node = child;
  }
  if (guard == GUARD_DENIED) node->denied = true;
  else node->read_only = true;
}

enum standing tree_standing(const char *path) {
  struct node *node = &root;
  bool read_only = false;
  for (;;) {
    if (node->denied) return STANDS_DENIED;
    read_only |= node->read_only;
    const char *name;
    size_t length = next_name(&path, &name);
    if (!length) break;
    node = tree_child(node, name, length);
    if (!node) return read_only ? STANDS_READ_ONLY : STANDS_FREE;
  }
  if (read_only) return STANDS_READ_ONLY;
  return node->guarded_below ? STANDS_ABOVE_GUARDED : STANDS_FREE;
}

struct node *tree_find(const char *path) {
  struct node *node = &root;
  const char *name;
  size_t length;
  while (node && (length = next_name(&path, &name))) node = tree_child(node, name, length);
  return node;
}
