#include "resolve.h"

#include "kernel.h"
#include "known_folders.h"
#include "mounts.h"
#include "report.h"
#include "text.h"

/* As many symlinks in a row as the kernel follows; beyond that the path names nothing. */
#define MOST_LINKS 40

/* The kernel's own name for what a descriptor refers to. */
static const char *name_of(long fd, const char *stage, const char *path) {
  static char name[PATH_MAX];
  char link_text[40];
  struct line link = {link_text, sizeof link_text, 0, false};
  proc_path(&link, "/proc/self/fd/", fd, 0, -1);
  long length = SYS(NR_readlinkat, AT_FDCWD, link_text, name, sizeof name - 1);
  if (length <= 0 || length == sizeof name - 1 || name[0] != '/') refuse(stage, length < 0 ? length : -EINVAL, path);
  name[length] = 0;
  return name;
}

static u64 mount_of(long fd) {
  struct file_status status = {0};
  return SYS(NR_statx, fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &status) == 0 ? status.mount_id : 0;
}

/* Cuts the last name off; false when nothing is left to cut. The root is the empty path here. */
static bool cut_name(char *path, size_t *length) {
  if (*length == 0) return false;
  while (*length && path[*length] != '/') --*length;
  path[*length] = 0;
  return true;
}

const char *resolve_path(const char *path, const char *stage, bool must_exist, u64 *mount_id) {
  char part[PATH_MAX];
  size_t length = text_length(path);
  memcpy(part, path, length + 1);
  if (length == 1) part[length = 0] = 0;
  for (;;) {
    long fd = SYS(NR_openat, AT_FDCWD, length ? part : "/", O_PATH | O_CLOEXEC);
    if (fd >= 0) {
      const char *name = name_of(fd, stage, path);
      if (mount_id) *mount_id = mount_of(fd);
      SYS(NR_close, fd);
      static char joined[2 * PATH_MAX];
      LINE(line, joined);
      const char *rest = path[1] ? path + length : "";
      if (!text_equal(name, "/") || !*rest) line_add(&line, name);
      line_add(&line, rest);
      return copy_text(joined, line.length);
    }
    bool may_be_missing = fd == -ENOENT || fd == -ENOTDIR || fd == -EACCES || fd == -ELOOP;
    if (must_exist || !may_be_missing || !cut_name(part, &length)) refuse(stage, fd, path);
  }
}

/* `folder`/`target` or an absolute target, with `.`, `..` and empty parts worked out on the text, then `rest`. */
static const char *join_target(const char *folder, const char *target, const char *rest) {
  static char text[3 * PATH_MAX];
  static char plain[3 * PATH_MAX];
  LINE(line, text);
  if (target[0] != '/') line_add(&line, folder);
  line_add(&line, "/");
  line_add(&line, target);
  line_add(&line, rest);
  size_t length = 0;
  for (const char *at = text; *at;) {
    while (*at == '/') at++;
    const char *name = at;
    while (*at && *at != '/') at++;
    size_t size = (size_t)(at - name);
    if (size == 0 || (size == 1 && name[0] == '.')) continue;
    if (size == 2 && bytes_equal(name, "..", 2)) {
      while (length && plain[--length] != '/') continue;
      continue;
    }
    plain[length++] = '/';
    memcpy(plain + length, name, size);
    length += size;
  }
  if (length == 0) plain[length++] = '/';
  plain[length] = 0;
  return length < PATH_MAX ? copy_text(plain, length) : 0;
}

/* When a part of `path` is a symlink to nothing (yet): the path by way of its target; else none. */
static const char *through_dangling_link(const char *path) {
  char part[PATH_MAX], target[PATH_MAX];
  size_t length = text_length(path);
  memcpy(part, path, length + 1);
  while (length) {
    long got = SYS(NR_readlinkat, AT_FDCWD, part, target, sizeof target - 1);
    if (got > 0) {
      target[got] = 0;
      const char *rest = path + length;
      /* Only a link that leads nowhere: the others were followed already. */
      long fd = SYS(NR_openat, AT_FDCWD, part, O_PATH | O_CLOEXEC);
      if (fd >= 0) {
        SYS(NR_close, fd);
        return 0;
      }
      if (!cut_name(part, &length)) return 0;
      return join_target(part, target, rest);
    }
    if (!cut_name(part, &length)) return 0;
  }
  return 0;
}

void guard_path(const char *path, enum guard guard) {
  u64 mount_id = 0;
  if (is_canonical(path, &mount_id)) {
    tree_mark(path, guard);
    mounts_mark_aliases(path, mount_id, guard);
    return;
  }
  for (int links = 0; path && links < MOST_LINKS; links++) {
    const char *canonical = resolve_path(path, "guard", false, &mount_id);
    tree_mark(canonical, guard);
    tree_mark(path, guard);
    mounts_mark_aliases(canonical, mount_id, guard);
    path = through_dangling_link(path);
  }
}
