#include "attacker.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/stat.h>

static long closing(long fd) {
  int kept = errno;
  if (fd >= 0) close((int)fd);
  errno = kept;
  return fd < 0 ? -1 : 0;
}

static long read_file(char **a) {
  int fd = open(a[0], O_RDONLY);
  if (fd < 0) return -1;
  char buffer[256];
  ssize_t got = read(fd, buffer, sizeof buffer - 1);
  if (got < 0) return -1;
  buffer[got] = 0;
  say(buffer);
  return got;
}

static long list(char **a) {
  DIR *folder = opendir(a[0]);
  if (!folder) return -1;
  errno = 0;
  long count = 0;
  for (struct dirent *entry; (entry = readdir(folder)); count++) say(entry->d_name), say(" ");
  return errno ? -1 : count;
}

static long list_by_descriptor(char **a) {
  int folder = open(a[0], O_PATH | O_DIRECTORY);
  if (folder < 0) return -1;
  int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY);
  if (fd < 0) return -1;
  char entries[4096];
  return syscall(SYS_getdents64, fd, entries, sizeof entries);
}

#if defined(__x86_64__)
static long list_old(char **a) {
  int fd = open(a[0], O_RDONLY | O_DIRECTORY);
  char entries[4096];
  return fd < 0 ? -1 : syscall(SYS_getdents, fd, entries, sizeof entries);
}
#endif

static long open_flags(char **a) { return closing(open(a[0], (int)number(a[1]), 0600)); }
static long open_openat2(char **a) {
  struct open_how how = {.flags = (uint64_t)number(a[1])};
  return closing(syscall(SYS_openat2, AT_FDCWD, a[0], &how, sizeof how));
}
/* Opens without rights, then again through the descriptor's name. */
static long reopen(char **a) {
  int fd = open(a[0], O_PATH);
  if (fd < 0) return -1;
  char name[64];
  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  return closing(open(name, (int)number(a[1])));
}
static long reopen_read(char **a) {
  int fd = open(a[0], O_RDONLY);
  if (fd < 0) return -1;
  char name[64];
  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  return closing(open(name, O_RDWR));
}
static long write_file(char **a) {
  int fd = open(a[0], O_WRONLY | O_CREAT, 0600);
  if (fd < 0) return -1;
  return write(fd, a[1], strlen(a[1])) < 0 ? -1 : 0;
}
static long do_truncate(char **a) { return truncate(a[0], 0); }
static long make_folder(char **a) { return mkdir(a[0], 0700); }
static long remove_folder(char **a) { return rmdir(a[0]); }
static long do_unlink(char **a) { return unlink(a[0]); }
static long do_rename(char **a) { return rename(a[0], a[1]); }
static long exchange(char **a) { return syscall(SYS_renameat2, AT_FDCWD, a[0], AT_FDCWD, a[1], 2); }
static long hard_link(char **a) { return link(a[0], a[1]); }
static long link_descriptor(char **a) {
  int fd = open(a[0], O_PATH);
  if (fd < 0) return -1;
  char name[64];
  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  return linkat(AT_FDCWD, name, AT_FDCWD, a[1], AT_SYMLINK_FOLLOW);
}
static long soft_link(char **a) { return symlink(a[0], a[1]); }
static long make_fifo(char **a) { return mkfifo(a[0], 0600); }
static long make_device(char **a) { return mknod(a[0], S_IFCHR | 0600, 0x103); }
static long temporary(char **a) { return closing(open(a[0], O_TMPFILE | O_RDWR, 0600)); }
static long map_shared(char **a) {
  int fd = open(a[0], O_RDONLY);
  if (fd < 0) return -1;
  void *map = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return map == MAP_FAILED ? -1 : 0;
}
static long allocate_read_only(char **a) {
  int fd = open(a[0], O_RDONLY);
  return fd < 0 ? -1 : fallocate(fd, 0, 0, 65536);
}
static long status(char **a) {
  struct stat found;
  if (stat(a[0], &found)) return -1;
  char text[64];
  snprintf(text, sizeof text, "size %ld", (long)found.st_size);
  say(text);
  return 0;
}
static long read_link(char **a) {
  char target[4096];
  ssize_t got = readlink(a[0], target, sizeof target - 1);
  if (got < 0) return -1;
  target[got] = 0;
  say(target);
  return got;
}
static long change_folder_then_read(char **a) {
  if (chdir(a[0])) return -1;
  return read_file(a + 1);
}
/* Waits until the path is there, then reads it. */
static long wait_and_read(char **a) {
  printf("ready\n");
  fflush(stdout);
  struct stat found;
  for (int i = 0; i < 400 && stat(a[0], &found); i++) usleep(5000);
  return read_file(a);
}
static long handle_open(char **a) {
  struct {
    struct file_handle head;
    char bytes[128];
  } handle = {.head.handle_bytes = 128};
  int mount_id;
  if (name_to_handle_at(AT_FDCWD, a[0], &handle.head, &mount_id, 0)) return -1;
  int root = open("/", O_RDONLY | O_DIRECTORY);
  return closing(open_by_handle_at(root, &handle.head, O_RDONLY));
}
static long memory_file(char **a) {
  (void)a;
  int fd = memfd_create("x", 0);
  return fd < 0 ? -1 : write(fd, "x", 1);
}
/* How many descriptors are open besides the three standard ones, and which. */
static long open_descriptors(char **a) {
  (void)a;
  long count = 0;
  for (int fd = 3; fd < 4096; fd++) {
    if (fcntl(fd, F_GETFD) < 0) continue;
    char text[16];
    snprintf(text, sizeof text, "%d ", fd);
    say(text);
    count++;
  }
  errno = EBADF;
  return count ? count : -1;
}
static long use_descriptor(char **a) {
  char byte;
  return number(a[1]) ? write((int)number(a[0]), "x", 1) : read((int)number(a[0]), &byte, 1);
}
static long write_own_memory(char **a) { (void)a; return closing(open("/proc/self/mem", O_RDWR)); }
static long lock_file(char **a) {
  int fd = open(a[0], O_RDONLY);
  struct flock lock = {.l_type = F_RDLCK};
  return fd < 0 ? -1 : fcntl(fd, F_SETLK, &lock);
}

const struct operation file_operations[] = {
    {"read", 1, read_file},
    {"list", 1, list},
    {"list_by_descriptor", 1, list_by_descriptor},
#if defined(__x86_64__)
    {"list_old", 1, list_old},
#endif
    {"open", 2, open_flags},
    {"openat2", 2, open_openat2},
    {"reopen", 2, reopen},
    {"reopen_read", 1, reopen_read},
    {"write", 2, write_file},
    {"truncate", 1, do_truncate},
    {"mkdir", 1, make_folder},
    {"rmdir", 1, remove_folder},
    {"unlink", 1, do_unlink},
    {"rename", 2, do_rename},
    {"exchange", 2, exchange},
    {"link", 2, hard_link},
    {"link_descriptor", 2, link_descriptor},
    {"symlink", 2, soft_link},
    {"mkfifo", 1, make_fifo},
    {"mknod", 1, make_device},
    {"tmpfile", 1, temporary},
    {"mmap_shared", 1, map_shared},
    {"fallocate_read_only", 1, allocate_read_only},
    {"stat", 1, status},
    {"readlink", 1, read_link},
    {"chdir_then_read", 2, change_folder_then_read},
    {"wait_and_read", 1, wait_and_read},
    {"open_by_handle", 1, handle_open},
    {"memfd_write", 0, memory_file},
    {"open_descriptors", 0, open_descriptors},
    {"use_descriptor", 2, use_descriptor},
    {"write_own_memory", 0, write_own_memory},
    {"lock", 1, lock_file},
    {0, 0, 0},
};
