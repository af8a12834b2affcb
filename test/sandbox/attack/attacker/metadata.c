#include "attacker.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/xattr.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#define SYS_file_setattr 469

static int opened(const char *path) { return open(path, O_RDONLY); }

static long do_chmod(char **a) { return chmod(a[0], (mode_t)number(a[1])); }
static long do_fchmod(char **a) {
  int fd = opened(a[0]);
  return fd < 0 ? -1 : fchmod(fd, (mode_t)number(a[1]));
}
static long do_fchmodat(char **a) {
  int folder = open(a[0], O_PATH | O_DIRECTORY);
  return folder < 0 ? -1 : fchmodat(folder, a[1], (mode_t)number(a[2]), 0);
}
static long do_fchmodat2(char **a) { return syscall(SYS_fchmodat2, AT_FDCWD, a[0], number(a[1]), 0); }
/* By the name of a descriptor, as C libraries do. */
static long chmod_proc(char **a) {
  int fd = open(a[0], O_PATH);
  char name[64];
  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  return fd < 0 ? -1 : chmod(name, (mode_t)number(a[1]));
}
static long chdir_chmod(char **a) { return chdir(a[0]) ? -1 : chmod(a[1], (mode_t)number(a[2])); }
static long do_chown(char **a) { return chown(a[0], getuid(), getgid()); }
static long do_lchown(char **a) { return lchown(a[0], getuid(), getgid()); }
static long do_fchown(char **a) {
  int fd = opened(a[0]);
  return fd < 0 ? -1 : fchown(fd, getuid(), getgid());
}
static long do_utimensat(char **a) {
  struct timespec times[2] = {{1000, 0}, {2000, 0}};
  return utimensat(AT_FDCWD, a[0], times, 0);
}
static long do_futimens(char **a) {
  int fd = opened(a[0]);
  return fd < 0 ? -1 : futimens(fd, 0);
}
#if defined(__x86_64__)
static long do_utimes(char **a) { return syscall(SYS_utimes, a[0], 0); }
static long do_utime(char **a) { return syscall(SYS_utime, a[0], 0); }
#endif
static long do_setxattr(char **a) { return setxattr(a[0], "user.x", "y", 1, 0); }
static long do_lsetxattr(char **a) { return lsetxattr(a[0], "user.x", "y", 1, 0); }
static long do_fsetxattr(char **a) {
  int fd = opened(a[0]);
  return fd < 0 ? -1 : fsetxattr(fd, "user.x", "y", 1, 0);
}
static long do_removexattr(char **a) { return removexattr(a[0], "user.x"); }
static long set_flags(char **a) {
  int fd = opened(a[0]), flags = 0;
  if (fd < 0 || ioctl(fd, FS_IOC_GETFLAGS, &flags)) return -1;
  flags ^= FS_NODUMP_FL;
  return ioctl(fd, FS_IOC_SETFLAGS, &flags);
}
static long set_fsxattr(char **a) {
  int fd = opened(a[0]);
  struct fsxattr attributes;
  if (fd < 0 || ioctl(fd, FS_IOC_FSGETXATTR, &attributes)) return -1;
  attributes.fsx_xflags ^= FS_XFLAG_NODUMP;
  return ioctl(fd, FS_IOC_FSSETXATTR, &attributes);
}
static long file_setattr(char **a) {
  char attributes[24] = {0};
  return syscall(SYS_file_setattr, AT_FDCWD, a[0], attributes, sizeof attributes, 0);
}

const struct operation metadata_operations[] = {
    {"chmod", 2, do_chmod},
    {"fchmod", 2, do_fchmod},
    {"fchmodat", 3, do_fchmodat},
    {"fchmodat2", 2, do_fchmodat2},
    {"chmod_proc", 2, chmod_proc},
    {"chdir_chmod", 3, chdir_chmod},
    {"chown", 1, do_chown},
    {"lchown", 1, do_lchown},
    {"fchown", 1, do_fchown},
    {"utimensat", 1, do_utimensat},
    {"futimens", 1, do_futimens},
#if defined(__x86_64__)
    {"utimes", 1, do_utimes},
    {"utime", 1, do_utime},
#endif
    {"setxattr", 1, do_setxattr},
    {"lsetxattr", 1, do_lsetxattr},
    {"fsetxattr", 1, do_fsetxattr},
    {"removexattr", 1, do_removexattr},
    {"set_flags", 1, set_flags},
    {"set_fsxattr", 1, set_fsxattr},
    {"file_setattr", 1, file_setattr},
    {0, 0, 0},
};
