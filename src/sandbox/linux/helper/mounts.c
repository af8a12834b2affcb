#include "mounts.h"

#include "evidence.h"
#include "kernel.h"
#include "report.h"
#include "text.h"

/* Container hosts have some thousand; a table that does not fit is refused, never read in part. */
#define MOST_MOUNTS 8192
#define LARGEST_TABLE (4 << 20)

/* One line of /proc/self/mountinfo: device `device`, from its folder `root` on, is shown at `point`. */
struct mount {
  u64 id;
  const char *device, *root, *point;
};

static struct mount mounts[MOST_MOUNTS];
static int mount_count;

/* Blanks and the like stand in the table as \040. */
static char *unescape(char *text) {
  char *to = text;
  for (char *from = text; *from;) {
    if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3') {
      *to++ = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
      from += 4;
    } else {
      *to++ = *from++;
    }
  }
  *to = 0;
  return text;
}

static char *read_table(void) {
  static char table[LARGEST_TABLE];
  long fd = SYS(NR_openat, AT_FDCWD, "/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
  if (fd < 0) refuse("mounts", fd, "/proc/self/mountinfo");
  size_t length = 0;
  for (;;) {
    long got = SYS(NR_read, fd, table + length, sizeof table - 1 - length);
    if (got < 0) refuse("mounts", got, 0);
    if (got == 0) break;
    length += (size_t)got;
    if (length == sizeof table - 1) refuse("mounts", -E2BIG, 0);
  }
  SYS(NR_close, fd);
  table[length] = 0;
  fingerprint_add(table, length);
  return table;
}

void mounts_load(void) {
  /* Fields of a line: id, parent, device, root, point, and more that does not matter. */
  enum { ID, PARENT, DEVICE, ROOT, POINT, FIELDS };
  char *at = read_table();
  while (*at) {
    char *fields[FIELDS] = {0};
    int count = 0;
    while (count < FIELDS) {
      fields[count++] = at;
      while (*at && *at != ' ' && *at != '\n') at++;
      if (*at != ' ') break;
      *at++ = 0;
    }
    while (*at && *at != '\n') at++;
    if (*at) *at++ = 0;
    if (count < FIELDS) continue;
    if (mount_count == MOST_MOUNTS) refuse("mounts", -E2BIG, 0);
    struct mount *mount = &mounts[mount_count++];
    mount->id = (u64)number_from(fields[ID]);
    mount->device = fields[DEVICE];
    mount->root = unescape(fields[ROOT]);
    mount->point = unescape(fields[POINT]);
  }
}

/* Marks `folder` + `rest`, where either may be the root or empty. */
static void mark_joined(const char *folder, const char *rest, enum guard guard) {
  static char joined[2 * PATH_MAX];
  LINE(line, joined);
  if (!text_equal(folder, "/")) line_add(&line, folder);
  line_add(&line, rest);
  if (line.full) refuse("mounts", -ENAMETOOLONG, folder);
  tree_mark(line.length ? joined : "/", guard);
}

/* The part of `path` behind `folder`: empty, or starting with a slash. */
static const char *behind(const char *path, const char *folder) {
  const char *rest = path + (text_equal(folder, "/") ? 0 : text_length(folder));
  return text_equal(rest, "/") ? "" : rest;
}

void mounts_mark_aliases(const char *path, u64 mount_id, enum guard guard) {
  const struct mount *own = 0;
  for (int i = 0; i < mount_count; i++)
    if (mounts[i].id == mount_id) own = &mounts[i];
  if (!own || !path_is_under(path, own->point)) return;

  /* Where the guarded thing lies on its device. */
  static char on_device[2 * PATH_MAX];
  LINE(line, on_device);
  if (!text_equal(own->root, "/")) line_add(&line, own->root);
  line_add(&line, behind(path, own->point));
  if (line.full) refuse("mounts", -ENAMETOOLONG, path);
  if (!line.length) line_add(&line, "/");

  for (int i = 0; i < mount_count; i++) {
    const struct mount *other = &mounts[i];
    if (other == own || !text_equal(other->device, own->device)) continue;
    if (path_is_under(on_device, other->root)) mark_joined(other->point, behind(on_device, other->root), guard);
    /* A mount that shows only something inside the guarded folder is guarded as a whole. */
    else if (path_is_under(other->root, on_device)) mark_joined(other->point, "", guard);
  }
}
