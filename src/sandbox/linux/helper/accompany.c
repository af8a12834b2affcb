#include "accompany.h"

#include "kernel.h"
#include "processes.h"
#include "report.h"

#define CHILD_STACK 65536
#define KILL_ROUNDS 2000
#define KILL_ROUND_NS 1000000

#define EXIT_NOT_RUN 125
#define EXIT_SIGNALLED 128

enum { PROGRAM, RUNTIME, SIGNALS, ENTRIES };

struct start {
  char **program, **environment;
  volatile long error;
};

static void execute(void *given) {
  struct start *start = given;
  /* Whoever ends this helper ends the program, too. */
  SYS(NR_prctl, PR_SET_PDEATHSIG, SIGKILL);
  u64 none = 0;
  SYS(NR_rt_sigprocmask, SIG_SETMASK, &none, 0, sizeof none);
  start->error = SYS(NR_execve, start->program[0], start->program, start->environment);
  exit_now(EXIT_NOT_RUN);
}

static int watch_signals(void) {
  u64 all = ~0ULL;
  SYS(NR_rt_sigprocmask, SIG_SETMASK, &all, 0, sizeof all);
  u64 ending = 1ULL << (SIGTERM - 1) | 1ULL << (SIGINT - 1) | 1ULL << (SIGHUP - 1);
  long fd = SYS(NR_signalfd4, -1, &ending, sizeof ending, O_CLOEXEC);
  if (fd < 0) refuse("signals", fd, 0);
  return (int)fd;
}

/* Those that lost their parent are our children. True when none is left; the program's own end is kept. */
static bool reap(long program, int *status) {
  int ended;
  long pid;
  while ((pid = SYS(NR_wait4, -1, &ended, WNOHANG | WALL, 0)) > 0)
    if (pid == program) *status = ended;
  return pid == -ECHILD;
}

void accompany(long runtime_pid, char **program, char **environment) {
  long runtime_fd = SYS(NR_pidfd_open, runtime_pid, 0);
  if (runtime_fd < 0 || SYS(NR_getppid) != runtime_pid) refuse("runtime_gone", runtime_fd, 0);
  long result = SYS(NR_prctl, PR_SET_CHILD_SUBREAPER, 1);
  if (result < 0) refuse("subreaper", result, 0);
  int signals_fd = watch_signals();

  static char stack[CHILD_STACK] __attribute__((aligned(16)));
  static struct start start;
  start = (struct start){program, environment, 0};
  int program_fd = -1;
  long pid = start_on_stack(CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, stack + sizeof stack, &program_fd, execute, &start);
  if (pid < 0) refuse("clone", pid, 0);
  if (start.error) refuse("execve", start.error, program[0]);

  struct poll_entry entries[ENTRIES] = {
      [PROGRAM] = {program_fd, POLLIN, 0}, [RUNTIME] = {(int)runtime_fd, POLLIN, 0}, [SIGNALS] = {signals_fd, POLLIN, 0}};
  while (!entries[PROGRAM].ready && !entries[RUNTIME].ready && !entries[SIGNALS].ready) SYS(NR_ppoll, entries, ENTRIES, 0, 0, 8);

  int status = SIGKILL;
  if (!entries[PROGRAM].ready) SYS(NR_pidfd_send_signal, program_fd, SIGKILL, 0, 0);
  for (int round = 0; round < KILL_ROUNDS && !reap(pid, &status); round++) {
    processes_kill();
    struct time_span wait = {0, KILL_ROUND_NS};
    SYS(NR_ppoll, 0, 0, &wait, 0, 8);
  }
  int signal = status & 0x7f;
  exit_now(signal ? EXIT_SIGNALLED + signal : status >> 8 & 0xff);
}
