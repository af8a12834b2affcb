#include "attacker.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

extern char **environ;

static long child_of(long pid) {
  if (pid == 0) _exit(0);
  int kept = errno;
  if (pid > 0) waitpid((pid_t)pid, 0, __WALL);
  errno = kept;
  return pid;
}

#if defined(__x86_64__)
static long raw_fork(char **a) { (void)a; return child_of(syscall(SYS_fork)); }
static long x32_fork(char **a) { (void)a; return child_of(syscall(SYS_fork | 0x40000000)); }
static long raw_vfork(char **a) {
  (void)a;
  /* The child runs on our stack until it ends, so nothing may happen in between. */
  long result;
  __asm__ volatile(
      "mov $58, %%eax\n syscall\n test %%rax, %%rax\n jnz 1f\n mov $60, %%eax\n xor %%edi, %%edi\n syscall\n 1:"
      : "=a"(result)
      :
      : "rcx", "r11", "rdi", "memory");
  if (result < 0) errno = (int)-result, result = -1;
  return result;
}
static long int80(long call, long b, long c, long d) {
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(call), "b"(b), "c"(c), "d"(d) : "memory", "r8", "r9", "r10", "r11");
  if (result < 0) errno = (int)-result, result = -1;
  return result;
}
static long int80_fork(char **a) { (void)a; return child_of(int80(2, 0, 0, 0)); }
static long int80_socket(char **a) { (void)a; return int80(359, 2, 1, 0); }
#endif

static long raw_clone(char **a) { return child_of(syscall(SYS_clone, strtoul(a[0], 0, 0) | SIGCHLD, 0, 0, 0, 0)); }

static int nothing(void *unused) { (void)unused; return 0; }
static long clone_vm_vfork(char **a) {
  (void)a;
  static char stack[65536];
  int pid = clone(nothing, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, 0);
  int kept = errno;
  if (pid > 0) waitpid(pid, 0, 0);
  errno = kept;
  return pid;
}

static long clone3_fork(char **a) {
  (void)a;
  struct clone_args arguments = {.exit_signal = SIGCHLD};
  return child_of(syscall(SYS_clone3, &arguments, sizeof arguments));
}

static long spawn(char **a) {
  pid_t pid;
  char *argv[] = {a[0], 0};
  int error = posix_spawn(&pid, a[0], 0, 0, argv, environ);
  if (!error) waitpid(pid, 0, 0);
  errno = error;
  return error ? -1 : 0;
}

static long run_popen(char **a) {
  FILE *pipe = popen(a[0], "r");
  if (!pipe) return -1;
  char line[64];
  bool got = fgets(line, sizeof line, pipe);
  if (got) say(line);
  return pclose(pipe) == 0 && got ? 0 : -1;
}

static long fork_bomb(char **a) {
  long made = 0;
  for (long i = 0; i < number(a[0]); i++) {
    long pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (pid == 0) pause();
    if (pid > 0) made++;
  }
  errno = EPERM;
  return made ? made : -1;
}

/* Every process makes more, as fast as it can, for so many milliseconds. */
static long fork_storm(char **a) {
  struct timespec end, now;
  clock_gettime(CLOCK_MONOTONIC, &end);
  long ms = number(a[0]);
  end.tv_sec += ms / 1000;
  do {
    syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (now.tv_sec < end.tv_sec);
  return 0;
}

/* Detaches in the three usual ways and stays. */
static long daemons(char **a) {
  for (long i = 0; i < number(a[0]); i++) {
    if (fork()) continue;
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    setsid();
    if (i % 2 && fork()) _exit(0);
    if (i % 3 == 0) prctl(PR_SET_PDEATHSIG, 0);
    for (;;) pause();
  }
  return 0;
}

static void *idle(void *unused) { return unused; }
static long thread(char **a) {
  pthread_t made;
  int error = pthread_create(&made, 0, idle, a);
  if (!error) pthread_join(made, 0);
  errno = error;
  return error ? -1 : 0;
}

static long execute(char **a) { return execve(a[0], a, environ); }

/* Copies itself into memory without a name, and goes on as that. */
static long memfd_then(char **a) {
  int source = open("/proc/self/exe", O_RDONLY);
  int memory = memfd_create("copy", 0);
  char buffer[65536];
  ssize_t got;
  while ((got = read(source, buffer, sizeof buffer)) > 0)
    if (write(memory, buffer, (size_t)got) != got) return -1;
  char *argv[] = {"attacker", a[0], "0", 0};
  return execveat(memory, "", argv, environ, AT_EMPTY_PATH);
}

static long send_kill(char **a) { return kill((pid_t)number(a[0]), (int)number(a[1])); }
static long send_tgkill(char **a) { return syscall(SYS_tgkill, number(a[0]), number(a[0]), number(a[1])); }
static long send_queue(char **a) {
  siginfo_t info = {.si_signo = (int)number(a[1]), .si_code = SI_QUEUE};
  return syscall(SYS_rt_sigqueueinfo, number(a[0]), number(a[1]), &info);
}
static long send_pidfd(char **a) {
  int fd = (int)syscall(SYS_pidfd_open, number(a[0]), 0);
  return fd < 0 ? -1 : syscall(SYS_pidfd_send_signal, fd, number(a[1]), 0, 0);
}
static long kill_parent(char **a) { return kill(getppid(), (int)number(a[0])); }
static long kill_own_child(char **a) {
  (void)a;
  pid_t pid = fork();
  if (pid < 0) return -1;
  if (pid == 0) for (;;) pause();
  long result = kill(pid, SIGKILL);
  if (result == 0) waitpid(pid, 0, 0);
  return result;
}
static long raise_signal(char **a) { return raise((int)number(a[0])); }
/* Input makes the kernel send a chosen signal to a chosen process. */
static long signal_by_owner(char **a) {
  int ends[2];
  if (pipe(ends)) return -1;
  long result = fcntl(ends[0], F_SETOWN, (int)number(a[0]));
  if (result == 0) fcntl(ends[0], F_SETSIG, SIGTERM), fcntl(ends[0], F_SETFL, O_ASYNC);
  if (write(ends[1], "x", 1) != 1) return -1;
  return result;
}
static long clear_death_signal(char **a) { (void)a; return prctl(PR_SET_PDEATHSIG, 0); }
static long stop_self(char **a) { (void)a; return raise(SIGSTOP); }

const struct operation process_operations[] = {
#if defined(__x86_64__)
    {"fork", 0, raw_fork},
    {"vfork", 0, raw_vfork},
    {"x32_fork", 0, x32_fork},
    {"int80_fork", 0, int80_fork},
    {"int80_socket", 0, int80_socket},
#endif
    {"clone", 1, raw_clone},
    {"clone_vm_vfork", 0, clone_vm_vfork},
    {"clone3", 0, clone3_fork},
    {"posix_spawn", 1, spawn},
    {"popen", 1, run_popen},
    {"fork_bomb", 1, fork_bomb},
    {"fork_storm", 1, fork_storm},
    {"daemons", 1, daemons},
    {"thread", 0, thread},
    {"exec", 1, execute},
    {"memfd_then", 1, memfd_then},
    {"kill", 2, send_kill},
    {"tgkill", 2, send_tgkill},
    {"sigqueue", 2, send_queue},
    {"pidfd_signal", 2, send_pidfd},
    {"kill_parent", 1, kill_parent},
    {"kill_own_child", 0, kill_own_child},
    {"raise", 1, raise_signal},
    {"signal_by_owner", 1, signal_by_owner},
    {"clear_death_signal", 0, clear_death_signal},
    {"stop_self", 0, stop_self},
    {0, 0, 0},
};
