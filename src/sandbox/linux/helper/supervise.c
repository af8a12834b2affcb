#include "supervise.h"

#include "answer.h"
#include "confine.h"
#include "keeper.h"
#include "kernel.h"
#include "processes.h"
#include "relay.h"
#include "report.h"
#include "rules.h"

/* Killed processes are gone within a round or two; one that sits in the kernel may never be. */
#define KILL_ROUNDS 2000
#define KILL_ROUND_NS 1000000

/* The child calls little, and no buffer of it is large. */
#define CHILD_STACK 65536

#define EXIT_TIMED_OUT 124
#define EXIT_TERMINATED 143
#define EXIT_SIGNALLED 128

enum { PROGRAM, QUESTIONS, RUNTIME, SIGNALS, STREAMS, ENTRIES = STREAMS + RELAY_STREAMS };

struct supervisor {
  const struct policy *policy;
  struct run run;
  long program; /* its pid */
  int program_fd, runtime_fd, signals_fd;
  bool ended;
  bool alone; /* not even a descendant of the program is left: those without a parent become our children */
};

/* The runtime's end is noticed through this; a parent-death signal would be its thread's. */
static int watch_runtime(const struct policy *policy) {
  long parent = SYS(NR_getppid);
  long fd = SYS(NR_pidfd_open, parent, 0);
  /* It may have gone before we looked, and someone else be our parent. */
  if (policy->runtime_pid && (fd < 0 || SYS(NR_getppid) != policy->runtime_pid)) refuse("runtime_gone", fd, 0);
  return (int)fd;
}

/* All signals wait in a descriptor: none interrupts, and SIGPIPE does not end us. */
static int watch_signals(void) {
  u64 all = ~0ULL;
  SYS(NR_rt_sigprocmask, SIG_SETMASK, &all, 0, sizeof all);
  u64 ending = 1ULL << (SIGTERM - 1) | 1ULL << (SIGINT - 1) | 1ULL << (SIGHUP - 1);
  long fd = SYS(NR_signalfd4, -1, &ending, sizeof ending, O_CLOEXEC);
  if (fd < 0) refuse("signals", fd, 0);
  return (int)fd;
}

/*
 * The child shares our memory and the table of descriptors until it executes: nothing has to be copied, and its listener
 * appears in ours without being sent. We wait until it has executed or ended, so that no question is asked before somebody
 * answers.
 */
static void start(struct supervisor *supervisor, int rule_set, int landlock_version) {
  static struct child_state state_of_child;
  struct child_state *state = &state_of_child;
  *state = (struct child_state){.policy = supervisor->policy, .rule_set = rule_set, .landlock_version = landlock_version, .listener = -1};
  relay_prepare();
  static char stack[CHILD_STACK] __attribute__((aligned(16)));
  long flags = CLONE_VM | CLONE_FILES | CLONE_VFORK | CLONE_PIDFD | SIGCHLD;
  long pid = start_on_stack(flags, stack + sizeof stack, &supervisor->program_fd, confine_and_execute, state);
  if (pid < 0) refuse("clone", pid, 0);
  if (state->error || state->stage != CHILD_EXECUTE) {
    const char *path = state->stage == CHILD_EXECUTE ? supervisor->policy->program[0] : 0;
    refuse(child_stage_name(state->stage), state->error, path);
  }
  supervisor->program = pid;
  supervisor->run.listener = state->listener;
  supervisor->run.had_listener = state->listener >= 0;
  if (state->listener >= 0) SYS(NR_ioctl, state->listener, SECCOMP_NOTIF_SET_FLAGS, SECCOMP_NOTIF_SYNC_WAKE_UP);
  relay_release();
}

static void reap(struct supervisor *supervisor) {
  int status;
  long pid;
  while ((pid = SYS(NR_wait4, -1, &status, WNOHANG | WALL, 0)) > 0) {
    if (pid != supervisor->program || supervisor->ended) continue;
    supervisor->run.status = status;
    supervisor->ended = true;
  }
  supervisor->alone = pid == -ECHILD;
}

static void take_question(struct supervisor *supervisor, const struct poll_entry *entry) {
  if (entry->ready & POLLIN) answer_question(supervisor->policy, &supervisor->run);
  /* Nobody is left who could ask. */
  else if (entry->ready) supervisor->run.listener = -1;
}

/* One wait for anything. False when the run is to be ended. */
static bool step(struct supervisor *supervisor, long deadline) {
  struct poll_entry entries[ENTRIES] = {
      [PROGRAM] = {supervisor->ended ? -1 : supervisor->program_fd, POLLIN, 0},
      [QUESTIONS] = {supervisor->run.listener, POLLIN, 0},
      [RUNTIME] = {supervisor->runtime_fd, POLLIN, 0},
      [SIGNALS] = {supervisor->signals_fd, POLLIN, 0},
  };
  relay_want(entries + STREAMS);
  struct time_span wait = {0, 0};
  if (deadline) {
    long left = deadline - now_ms();
    if (left <= 0) {
      supervisor->run.timed_out = true;
      return false;
    }
    wait = (struct time_span){left / 1000, left % 1000 * 1000000};
  }
  long ready = SYS(NR_ppoll, entries, ENTRIES, deadline ? &wait : 0, 0, 8);
  if (ready < 0 && ready != -EINTR) return false;
  if (ready <= 0) return true;
  take_question(supervisor, &entries[QUESTIONS]);
  relay_move(entries + STREAMS);
  if (entries[PROGRAM].ready) reap(supervisor);
  if (entries[RUNTIME].ready || entries[SIGNALS].ready) {
    supervisor->run.terminated = !supervisor->ended;
    return false;
  }
  return true;
}

/* Ends everything that came from the program: none can be added meanwhile, so each round leaves fewer. */
static void end_tree(struct supervisor *supervisor) {
  struct run *run = &supervisor->run;
  run->ending = true;
  if (!supervisor->ended) SYS(NR_pidfd_send_signal, supervisor->program_fd, SIGKILL, 0, 0);
  for (int round = 0; round < KILL_ROUNDS && !supervisor->alone; round++) {
    int alive = processes_kill();
    if (round == 0 && supervisor->ended) run->left_killed = alive;
    reap(supervisor);
    if (alive == 0 && supervisor->ended) break;
    struct poll_entry entries[2] = {{run->listener, POLLIN, 0}, {supervisor->ended ? -1 : supervisor->program_fd, POLLIN, 0}};
    struct time_span wait = {0, KILL_ROUND_NS};
    if (SYS(NR_ppoll, entries, 2, &wait, 0, 8) > 0) take_question(supervisor, &entries[0]);
  }
  if (!supervisor->alone) reap(supervisor);
}

void supervise(const struct policy *policy, int rule_set, int landlock_version, long started_us) {
  struct supervisor supervisor = {.policy = policy, .program_fd = -1, .run.listener = -1};
  if (policy->subprocess && !processes_can_be_listed()) refuse("children", -ENOENT, 0);
  supervisor.runtime_fd = watch_runtime(policy);
  long result = SYS(NR_prctl, PR_SET_CHILD_SUBREAPER, 1);
  if (result < 0) refuse("subreaper", result, 0);
  SYS(NR_setsid);
  supervisor.signals_fd = watch_signals();

  start(&supervisor, rule_set, landlock_version);
  supervisor.run.setup_us = now_us() - started_us;
  report_started(supervisor.program);
  /* Once the program has a listener: a kept set allows listing, which only a supervisor with a listener makes up for. */
  if (rules_were_built() && supervisor.run.had_listener) keeper_offer(policy, rule_set);
  long deadline = policy->timeout_ms ? now_ms() + policy->timeout_ms : 0;
  while (!supervisor.ended && step(&supervisor, deadline)) continue;
  end_tree(&supervisor);

  relay_stop_input();
  supervisor.run.listener = -1;
  while (relay_has_output() && step(&supervisor, 0)) continue;

  report_end(&supervisor.run, landlock_version, rules_count());
  int signal = supervisor.run.status & 0x7f;
  exit_now(supervisor.run.timed_out    ? EXIT_TIMED_OUT
           : supervisor.run.terminated ? EXIT_TERMINATED
           : signal                    ? EXIT_SIGNALLED + signal
                                       : supervisor.run.status >> 8 & 0xff);
}
