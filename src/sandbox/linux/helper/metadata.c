#include "metadata.h"

#include "path_tree.h"
#include "rules.h"
#include "text.h"

#define SET_ID_BITS 06000

struct change {
  int folder;      /* descriptor that a relative path starts from, or AT_FDCWD */
  u64 path;        /* address of the path in the program's memory; 0: the descriptor itself */
  bool sets_mode;
  u32 mode;
  u64 times;       /* address of two timespecs; 0: now */
  u32 flags;
};

/* What a call asks for; false for the calls that are refused even under write_paths. */
static bool read_change(const struct seccomp_call *call, struct change *change) {
  const u64 *arguments = call->arguments;
  change->folder = AT_FDCWD;
  switch (call->number) {
    case NR_fchmod:
      *change = (struct change){.folder = (int)arguments[0], .sets_mode = true, .mode = (u32)arguments[1]};
      return true;
    case NR_fchmodat2:
      change->flags = (u32)arguments[3];
      __attribute__((fallthrough));
    case NR_fchmodat:
      change->folder = (int)arguments[0];
      change->path = arguments[1];
      change->sets_mode = true;
      change->mode = (u32)arguments[2];
      return true;
    case NR_utimensat:
      change->folder = (int)arguments[0];
      change->path = arguments[1];
      change->times = arguments[2];
      change->flags = (u32)arguments[3];
      return true;
#if defined(__x86_64__)
    case NR_chmod:
      change->path = arguments[0];
      change->sets_mode = true;
      change->mode = (u32)arguments[1];
      return true;
#endif
    default:
      return false;
  }
}

/* Reads the program's memory, less than `size` where it ends before. */
static long read_memory(u32 pid, u64 address, char *buffer, size_t size) {
  char text[40];
  struct line path = {text, sizeof text, 0, false};
  proc_path(&path, "/proc/", pid, "/mem", -1);
  long fd = SYS(NR_openat, AT_FDCWD, text, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fd;
  size_t got = 0;
  while (got < size) {
    /* Page by page, for the next may not be there. */
    size_t page = 4096 - ((address + got) & 4095);
    size_t part = size - got < page ? size - got : page;
    long result = SYS(NR_pread64, fd, buffer + got, part, address + got);
    if (result <= 0) break;
    got += (size_t)result;
  }
  SYS(NR_close, fd);
  return got ? (long)got : -EFAULT;
}

static long open_start(u32 pid, int folder) {
  char text[64];
  struct line path = {text, sizeof text, 0, false};
  if (folder == AT_FDCWD) proc_path(&path, "/proc/", pid, "/cwd", -1);
  else proc_path(&path, "/proc/", pid, "/fd/", folder);
  return SYS(NR_openat, AT_FDCWD, text, O_PATH | O_CLOEXEC);
}

/* `/proc/self/…` means the program's, not ours: C libraries write chmod on a descriptor that way. */
static const char *program_self(u32 pid, const char *path, char *buffer, size_t size) {
  static const char *const names[] = {"/proc/self/", "/proc/thread-self/"};
  for (size_t i = 0; i < 2; i++) {
    size_t length = text_length(names[i]);
    if (!bytes_equal(path, names[i], length)) continue;
    struct line line = {buffer, size, 0, false};
    proc_path(&line, "/proc/", pid, "/", -1);
    line_add(&line, path + length);
    return line.full ? "" : buffer;
  }
  return path;
}

/* A descriptor of ours for what the change is about; negative errno when it cannot be had. */
static long open_target(u32 pid, const struct change *change) {
  if (!change->path) return open_start(pid, change->folder);
  char path[PATH_MAX], rewritten[PATH_MAX];
  long length = read_memory(pid, change->path, path, sizeof path);
  if (length < 0) return length;
  size_t end = 0;
  while (end < (size_t)length && path[end]) end++;
  if (end == (size_t)length) return length == PATH_MAX ? -ENAMETOOLONG : -EFAULT;
  if (!end) return change->flags & AT_EMPTY_PATH ? open_start(pid, change->folder) : -ENOENT;
  int flags = O_PATH | O_CLOEXEC | (change->flags & AT_SYMLINK_NOFOLLOW ? O_NOFOLLOW : 0);
  if (path[0] == '/') return SYS(NR_openat, AT_FDCWD, program_self(pid, path, rewritten, sizeof rewritten), flags);
  long start = open_start(pid, change->folder);
  if (start < 0) return start;
  long fd = SYS(NR_openat, start, path, flags);
  SYS(NR_close, start);
  return fd;
}

/* Inside a grant, neither guarded nor above something guarded, and the program's own. */
static bool may_change(const char *name, long fd) {
  struct file_status status = {0};
  if (SYS(NR_statx, fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &status) != 0) return false;
  if ((status.mode & S_IFMT) == S_IFLNK || status.uid != (u32)SYS(NR_getuid)) return false;
  if (tree_standing(name) != STANDS_FREE) return false;
  const struct text_list *granted = rules_granted();
  for (int i = 0; i < granted->count; i++)
    if (path_is_under(name, granted->texts[i])) return true;
  return false;
}

static long apply(u32 pid, const struct change *change, const char *link) {
  if (change->sets_mode) return SYS(NR_fchmodat, AT_FDCWD, link, change->mode);
  if (!change->times) return SYS(NR_utimensat, AT_FDCWD, link, 0, 0);
  struct time_span times[2];
  if (read_memory(pid, change->times, (char *)times, sizeof times) != sizeof times) return -EFAULT;
  return SYS(NR_utimensat, AT_FDCWD, link, times, 0);
}

long metadata_change(const struct seccomp_question *question, int listener) {
  struct change change = {0};
  if (!read_change(&question->call, &change)) return -EPERM;
  if (change.flags & ~(u32)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)) return -EINVAL;
  /* A program that runs as its owner, whoever starts it, must not come out of a sandbox. */
  if (change.sets_mode && (change.mode & SET_ID_BITS)) return -EPERM;
  long fd = open_target(question->pid, &change);
  if (fd < 0) return fd;

  char link_text[40], name[PATH_MAX];
  struct line link = {link_text, sizeof link_text, 0, false};
  proc_path(&link, "/proc/self/fd/", fd, 0, -1);
  long length = SYS(NR_readlinkat, AT_FDCWD, link_text, name, sizeof name - 1);
  long result = -EPERM;
  /* Still the same question: the process that was looked at has not been replaced by another of its number. */
  bool valid = SYS(NR_ioctl, listener, SECCOMP_NOTIF_ID_VALID, &question->id) == 0;
  if (valid && length > 0 && length < (long)sizeof name - 1) {
    name[length] = 0;
    if (may_change(name, fd)) result = apply(question->pid, &change, link_text);
  }
  SYS(NR_close, fd);
  return result;
}
