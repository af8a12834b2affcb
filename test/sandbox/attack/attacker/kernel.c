#include "attacker.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/perf_event.h>
#include <mqueue.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/uio.h>

static long any_call(char **a) { return syscall(number(a[0]), 0, 0, 0, 0, 0, 0); }
static long do_unshare(char **a) { return unshare((int)number(a[0])); }
static long do_setns(char **a) {
  int fd = open(a[0], O_RDONLY);
  return fd < 0 ? -1 : setns(fd, 0);
}
static long do_mount(char **a) { return mount("none", a[0], "tmpfs", 0, 0); }
static long bind_mount(char **a) { return mount(a[0], a[1], 0, MS_BIND, 0); }
static long do_umount(char **a) { return umount2(a[0], MNT_DETACH); }
static long do_chroot(char **a) { return chroot(a[0]); }
static long clone_tree(char **a) { return syscall(428, AT_FDCWD, a[0], 1); }
static long open_fs(char **a) { return syscall(430, a[0], 0); }

static long io_setup(char **a) {
  (void)a;
  struct io_uring_params parameters = {0};
  return syscall(SYS_io_uring_setup, 4, &parameters);
}
static long io_enter(char **a) { (void)a; return syscall(SYS_io_uring_enter, 0, 0, 0, 0, 0, 0); }
static long io_register(char **a) { (void)a; return syscall(SYS_io_uring_register, 0, 0, 0, 0); }

static long trace_me(char **a) { (void)a; return ptrace(PTRACE_TRACEME, 0, 0, 0); }
static long trace_attach(char **a) { return ptrace(PTRACE_ATTACH, number(a[0]), 0, 0); }
static long trace_seize(char **a) { return ptrace(PTRACE_SEIZE, number(a[0]), 0, 0); }
static long vm_move(long call, char **a) {
  char byte = 0;
  struct iovec own = {&byte, 1}, other = {(void *)0x400000, 1};
  return syscall(call, number(a[0]), &own, 1, &other, 1, 0);
}
static long vm_read(char **a) { return vm_move(SYS_process_vm_readv, a); }
static long vm_write(char **a) { return vm_move(SYS_process_vm_writev, a); }
static long take_descriptor(char **a) {
  int fd = (int)syscall(SYS_pidfd_open, number(a[0]), 0);
  return fd < 0 ? -1 : syscall(SYS_pidfd_getfd, fd, 0, 0);
}
static long limit_other(char **a) {
  struct rlimit limit = {100, 100};
  return prlimit((pid_t)number(a[0]), RLIMIT_NOFILE, &limit, 0);
}
static long limit_self(char **a) {
  (void)a;
  struct rlimit limit;
  return prlimit(0, RLIMIT_NOFILE, 0, &limit);
}
static long compare(char **a) { return syscall(SYS_kcmp, number(a[0]), getpid(), 0, 0, 0); }

static long key_add(char **a) { (void)a; return syscall(SYS_add_key, "user", "x", "y", 1, -3); }
static long key_control(char **a) { (void)a; return syscall(SYS_keyctl, 0, -3, 1, 0, 0); }
static long key_request(char **a) { (void)a; return syscall(SYS_request_key, "user", "x", 0, -3); }
static long load_bpf(char **a) {
  (void)a;
  union bpf_attr attributes = {.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};
  return syscall(SYS_bpf, BPF_MAP_CREATE, &attributes, sizeof attributes);
}
static long perf_open(char **a) {
  (void)a;
  struct perf_event_attr attributes = {.type = PERF_TYPE_SOFTWARE, .size = sizeof attributes, .exclude_kernel = 1};
  return syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
}
static long fault_descriptor(char **a) { (void)a; return syscall(SYS_userfaultfd, 1); }
/* The kernel looks at the low half of a request only, so a high half must not hide it. */
static long terminal_input(char **a) { return syscall(SYS_ioctl, 0, (unsigned long)number(a[0]), "x"); }

static long shared_memory(char **a) { (void)a; return shmget(IPC_PRIVATE, 4096, 0600); }
static long message_queue(char **a) { (void)a; return msgget(IPC_PRIVATE, 0600); }
static long semaphores(char **a) { (void)a; return semget(IPC_PRIVATE, 1, 0600); }
static long posix_queue(char **a) {
  char name[64];
  snprintf(name, sizeof name, "/%s", a[0]);
  return mq_open(name, O_CREAT | O_RDWR, 0600, 0);
}

/* 0 when the process has no capability of any kind. */
static long capabilities(char **a) {
  (void)a;
  FILE *status = fopen("/proc/self/status", "r");
  if (!status) return -1;
  char line[256];
  long held = 0;
  while (fgets(line, sizeof line, status))
    if (!strncmp(line, "Cap", 3) && strncmp(line, "CapBnd", 6) && strtoull(line + 7, 0, 16)) say(line), held++;
  return held;
}

const struct operation kernel_operations[] = {
    {"syscall", 1, any_call},
    {"unshare", 1, do_unshare},
    {"setns", 1, do_setns},
    {"mount", 1, do_mount},
    {"bind_mount", 2, bind_mount},
    {"umount", 1, do_umount},
    {"chroot", 1, do_chroot},
    {"open_tree", 1, clone_tree},
    {"fsopen", 1, open_fs},
    {"io_uring_setup", 0, io_setup},
    {"io_uring_enter", 0, io_enter},
    {"io_uring_register", 0, io_register},
    {"ptrace_me", 0, trace_me},
    {"ptrace_attach", 1, trace_attach},
    {"ptrace_seize", 1, trace_seize},
    {"process_vm_readv", 1, vm_read},
    {"process_vm_writev", 1, vm_write},
    {"pidfd_getfd", 1, take_descriptor},
    {"prlimit", 1, limit_other},
    {"prlimit_self", 0, limit_self},
    {"kcmp", 1, compare},
    {"add_key", 0, key_add},
    {"keyctl", 0, key_control},
    {"request_key", 0, key_request},
    {"bpf", 0, load_bpf},
    {"perf", 0, perf_open},
    {"userfaultfd", 0, fault_descriptor},
    {"ioctl", 1, terminal_input},
    {"shmget", 0, shared_memory},
    {"msgget", 0, message_queue},
    {"semget", 0, semaphores},
    {"mq_open", 1, posix_queue},
    {"capabilities", 0, capabilities},
    {0, 0, 0},
};
