#include "self_test.h"

#include "kernel.h"
#include "text.h"

#define REPORT_FD 3

static char output[4096];
static struct line line = {output, sizeof output, 0, false};
static const char *folder;

static const char *in_folder(const char *name) {
  static char text[PATH_MAX];
  struct line path = {text, sizeof text, 0, false};
  line_add(&path, folder);
  line_add(&path, name);
  return text;
}

static void note(const char *name, long result) {
  line_add(&line, line.length ? ",\"" : "{\"");
  line_add(&line, name);
  line_add(&line, "\":");
  line_add_number(&line, result < 0 ? -result : 0);
}

static long open_in(const char *name, int flags) {
  return SYS(NR_openat, AT_FDCWD, in_folder(name), flags | O_CLOEXEC, 0600);
}

static long list(const char *name) {
  char entries[512];
  long fd = open_in(name, O_RDONLY | O_DIRECTORY);
  return fd < 0 ? fd : SYS(NR_getdents64, fd, entries, sizeof entries);
}

static long try_fork(void) {
  long pid = SYS(NR_clone, SIGCHLD);
  if (pid == 0) exit_now(0);
  int status;
  if (pid > 0) SYS(NR_wait4, pid, &status, 0, 0);
  return pid;
}

static long try_clone3(void) {
  u64 arguments[8] = {[4] = SIGCHLD};
  long pid = SYS(NR_clone3, arguments, sizeof arguments);
  if (pid == 0) exit_now(0);
  return pid;
}

static void note_files(void) {
  note("read_plain", open_in("/plain", O_RDONLY));
  note("read_secret", open_in("/secret/key", O_RDONLY));
  note("list_folder", list(""));
  note("list_secret", list("/secret"));
  note("write_plain", open_in("/plain", O_WRONLY));
  note("truncate_plain", SYS(NR_openat, AT_FDCWD, in_folder("/plain"), O_RDONLY | O_TRUNC | O_CLOEXEC));
  note("chmod_plain", SYS(NR_fchmodat, AT_FDCWD, in_folder("/plain"), 0600));
  note("create", open_in("/granted/new", O_WRONLY | O_CREAT));
  note("create_beside", open_in("/new", O_WRONLY | O_CREAT));
  note("dev_null", SYS(NR_openat, AT_FDCWD, "/dev/null", O_WRONLY | O_CLOEXEC));
}

static void note_processes(void) {
  note("fork", try_fork());
  note("clone3", try_clone3());
  note("signal_parent", SYS(NR_kill, SYS(NR_getppid), 0));
  note("ptrace", SYS(NR_ptrace, 0));
  note("unshare", SYS(NR_unshare, 0x10000000));
}

static void note_sockets(void) {
  enum { AF_PACKET = 17, SOCK_DGRAM = 2, SOCK_RAW = 3, NETLINK_AUDIT = 9 };
  note("inet", SYS(NR_socket, AF_INET, SOCK_STREAM, 0));
  note("inet6", SYS(NR_socket, AF_INET6, SOCK_DGRAM, 0));
  note("unix", SYS(NR_socket, AF_UNIX, SOCK_STREAM, 0));
  note("netlink", SYS(NR_socket, AF_NETLINK, SOCK_RAW, NETLINK_AUDIT));
  note("packet", SYS(NR_socket, AF_PACKET, SOCK_RAW, 0));
}

void self_test(const char *where) {
  folder = where;
  note("report_descriptor", SYS(NR_fcntl, REPORT_FD, F_GETFD));
  note_files();
  note_processes();
  note_sockets();
  char ring[128] = {0};
  note("io_uring", SYS(NR_io_uring_setup, 1, ring));
  line_add(&line, "}\n");
  SYS(NR_write, 1, line.text, line.length);
  exit_now(0);
}
