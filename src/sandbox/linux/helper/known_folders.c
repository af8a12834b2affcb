#include "known_folders.h"

#include "kernel.h"
#include "text.h"

#define MOST_KNOWN 64
#define LONGEST_NAME 255

enum kind { FOLDER, OTHER, MISSING, UNCLEAR };

struct place {
  enum kind kind;
  long fd;            /* of a folder; else -1 */
  u64 mount_id;       /* of its longest existing part */
  const char *path;   /* its first `length` bytes; the root is empty */
  size_t length;
};

static struct place known[MOST_KNOWN];
static int known_count;

static struct place look_at(const char *path, size_t length);

/* Looks at a folder once for all that is in it. */
static struct place known_folder(const char *path, size_t length) {
  for (int i = 0; i < known_count; i++)
    if (known[i].length == length && bytes_equal(known[i].path, path, length)) return known[i];
  struct place place = look_at(path, length);
  if (known_count < MOST_KNOWN) known[known_count++] = place;
  else if (place.fd >= 0) place.kind = UNCLEAR, SYS(NR_close, place.fd);
  return place;
}

static struct place opened(long fd, const char *path, size_t length) {
  struct place place = {UNCLEAR, -1, 0, path, length};
  struct file_status status = {0};
  if (SYS(NR_statx, fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_MNT_ID, &status) == 0) {
    u32 type = status.mode & S_IFMT;
    place.kind = type == S_IFDIR ? FOLDER : type == S_IFLNK ? UNCLEAR : OTHER;
    place.mount_id = status.mount_id;
  }
  if (place.kind == FOLDER) place.fd = fd;
  else SYS(NR_close, fd);
  return place;
}

static struct place look_at(const char *path, size_t length) {
  struct place place = {UNCLEAR, -1, 0, path, length};
  int flags = O_PATH | O_CLOEXEC;
  if (!length) {
    long root = SYS(NR_openat, AT_FDCWD, "/", flags | O_DIRECTORY);
    return root < 0 ? place : opened(root, path, 0);
  }
  size_t above = length;
  while (path[above - 1] != '/') above--;
  char name[LONGEST_NAME + 1];
  size_t size = length - above;
  struct place folder = known_folder(path, above - 1);
  if (folder.kind == UNCLEAR || size > LONGEST_NAME) return place;
  place.mount_id = folder.mount_id;
  place.kind = MISSING;
  if (folder.kind != FOLDER) return place;
  memcpy(name, path + above, size);
  name[size] = 0;
  long fd = SYS(NR_openat, folder.fd, name, flags | O_NOFOLLOW);
  if (fd >= 0) return opened(fd, path, length);
  if (fd != -ENOENT) place.kind = UNCLEAR;
  return place;
}

bool is_canonical(const char *path, u64 *mount_id) {
  if (!path[1]) return false;
  struct place place = look_at(path, text_length(path));
  if (place.fd >= 0) SYS(NR_close, place.fd);
  *mount_id = place.mount_id;
  return place.kind != UNCLEAR;
}

void forget_folders(void) {
  for (int i = 0; i < known_count; i++)
    if (known[i].fd >= 0) SYS(NR_close, known[i].fd);
  known_count = 0;
}
