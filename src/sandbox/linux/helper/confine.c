#include "confine.h"

#include "filter.h"
#include "kernel.h"
#include "rules.h"
#include "text.h"

/* Above this the numbers name no capability that any kernel has. */
#define MOST_CAPABILITIES 64
/* First descriptor that is not a standard stream. */
#define FIRST_OWN 3
/* When memory runs out the kernel should end the hook rather than the runtime; -1000 to 1000. */
#define OOM_SCORE "500"

static struct child_state *own_state;

static void fail_at(int stage, long error) {
  own_state->error = error;
  own_state->stage = stage;
  exit_now(125);
}

static void must(int stage, long result) {
  if (result < 0) fail_at(stage, result);
}

/* The runtime may have left signals ignored or blocked, which executing does not undo. */
static void reset_signals(void) {
  struct kernel_sigaction by_default = {0};
  for (int signal = 1; signal <= LAST_SIGNAL; signal++) SYS(NR_rt_sigaction, signal, &by_default, 0, sizeof(u64));
  u64 none = 0;
  SYS(NR_rt_sigprocmask, SIG_SETMASK, &none, 0, sizeof none);
}

static void offer_to_oom_killer(void) {
  long fd = SYS(NR_openat, AT_FDCWD, "/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  SYS(NR_write, fd, OOM_SCORE, sizeof OOM_SCORE - 1);
  SYS(NR_close, fd);
}

/* Leaves an ordinary process, also when the runtime runs as root. */
static void drop_privileges(void) {
  must(CHILD_PRIVILEGES, SYS(NR_prctl, PR_SET_NO_NEW_PRIVS, 1));
  /* These need privileges to be given up; what counts is the last step, which must succeed. */
  SYS(NR_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL);
  SYS(NR_prctl, PR_SET_SECUREBITS, SECUREBITS_NO_ROOT_POWER);
  for (int capability = 0; capability < MOST_CAPABILITIES; capability++)
    if (SYS(NR_prctl, PR_CAPBSET_DROP, capability) == -EINVAL) break;
  struct {
    u32 version;
    int pid;
  } header = {CAPABILITY_VERSION_3, 0};
  u32 none[6] = {0};
  must(CHILD_CAPABILITIES, SYS(NR_capset, &header, none));
}

static void install_filter(const struct policy *policy, int landlock_version) {
  struct filter_options options = {
      .has_listener = true,
      .gates_listing = policy->denied.count > 0,
      .landlock_version = landlock_version,
      .pid = (u32)SYS(NR_getpid),
  };
  struct bpf_program program = filter_build(policy, &options);
  long listener = SYS(NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
  if (listener >= 0) {
    own_state->listener = (int)listener;
    if (options.gates_listing) rules_allow_listing();
    return;
  }
  /* Another supervisor above us has the one listener there may be (EBUSY), or the kernel has none (EINVAL). */
  if (listener != -EBUSY && listener != -EINVAL) fail_at(CHILD_FILTER, listener);
  /* Nobody could hold children to a number, nor end them for sure; and a kept rule set leaves listing to us. */
  if (policy->subprocess || !rules_were_built()) fail_at(CHILD_LISTENER, listener);
  /* The same refusals, uncounted; no change of metadata, and no listing of folders above denied paths. */
  options.has_listener = false;
  program = filter_build(policy, &options);
  must(CHILD_FILTER, SYS(NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program));
}

void confine_and_execute(void *given) {
  struct child_state *state = given;
  const struct policy *policy = state->policy;
  own_state = state;
  SYS(NR_setsid);
  must(CHILD_DEATH_SIGNAL, SYS(NR_prctl, PR_SET_PDEATHSIG, SIGKILL));
  u64 no_core[2] = {0, 0};
  must(CHILD_LIMITS, SYS(NR_prlimit64, 0, RLIMIT_CORE, no_core, 0));
  reset_signals();
  offer_to_oom_killer();
  drop_privileges();
  /* The table is still shared with the supervisor, which never executes, so only the program loses them. */
  must(CHILD_DESCRIPTORS, SYS(NR_close_range, FIRST_OWN, ~0U, CLOSE_RANGE_CLOEXEC));
  install_filter(policy, state->landlock_version);
  must(CHILD_LANDLOCK, SYS(NR_landlock_restrict_self, state->rule_set, 0));
  state->stage = CHILD_EXECUTE;
  fail_at(CHILD_EXECUTE, SYS(NR_execve, policy->program[0], policy->program, policy->environment));
  exit_now(125);
}

const char *child_stage_name(int stage) {
  static const char *const names[] = {"child",       "death_signal", "limits",   "privileges", "capabilities",
                                      "descriptors", "filter",       "listener", "landlock",   "execve"};
  return stage >= 0 && stage < (int)(sizeof names / sizeof *names) ? names[stage] : "child";
}
