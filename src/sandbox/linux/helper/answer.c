#include "answer.h"

#include "kernel.h"
#include "metadata.h"
#include "path_tree.h"
#include "processes.h"
#include "refusals.h"
#include "text.h"

/*
 * An answer is an errno, or CONTINUE, which lets the kernel go on with the call as it stands by then. That is sound only where
 * what was judged cannot change meanwhile: arguments in registers, never memory behind a pointer.
 */
#define CONTINUE 1

static bool makes_process(int number) {
#if defined(__x86_64__)
  if (number == NR_fork || number == NR_vfork) return true;
#endif
  return number == NR_clone;
}

static bool lists_folder(int number) {
#if defined(__x86_64__)
  if (number == NR_getdents) return true;
#endif
  return number == NR_getdents64;
}

/* Never more than the budget at once: what was let pass since the last count is taken as alive. */
static long answer_process(const struct policy *policy, int thread, struct run *run) {
  static int alive_at_most = 1;
  if (!policy->subprocess) {
    run->denied.fork++;
    return -EPERM;
  }
  /* Shells wait and try again at EAGAIN, and find themselves killed. */
  if (run->ending) return -EAGAIN;
  processes_heard_of(thread);
  if (alive_at_most >= policy->most_processes) alive_at_most = processes_count(policy->most_processes);
  if (alive_at_most >= policy->most_processes) {
    run->denied.fork_budget++;
    return -EAGAIN;
  }
  alive_at_most++;
  processes_let_make(thread);
  run->forks++;
  return CONTINUE;
}

/* `/proc/PID/…` of somebody else: the kernel lets an owner list the descriptors there, though not use them. */
static bool is_of_other_process(const char *name) {
  if (!bytes_equal(name, "/proc/", 6)) return false;
  const char *rest = name + 6;
  long pid = number_from(rest);
  while (*rest >= '0' && *rest <= '9') rest++;
  return pid > 0 && *rest == '/' && processes_can_be_listed() && !processes_have(pid);
}

/* A second thread can change the descriptor after the look: that shows names, never contents, which Landlock guards. */
static long answer_listing(const struct seccomp_question *question, struct run *run) {
  char link_text[64], name[PATH_MAX];
  struct line link = {link_text, sizeof link_text, 0, false};
  proc_path(&link, "/proc/", question->pid, "/fd/", (int)question->call.arguments[0]);
  long length = SYS(NR_readlinkat, AT_FDCWD, link_text, name, sizeof name - 1);
  /* Not open: the kernel says so itself. */
  if (length == -ENOENT) return CONTINUE;
  if (length <= 0 || length == sizeof name - 1) return -EACCES;
  name[length] = 0;
  if (tree_standing(name) != STANDS_DENIED && !is_of_other_process(name)) return CONTINUE;
  run->denied.listing++;
  return -EACCES;
}

static long answer_socket(int family, struct run *run) {
  if (family == AF_INET || family == AF_INET6) run->denied.inet++;
  else if (family == AF_UNIX) run->denied.unix_socket++;
  else run->denied.other_socket++;
  return -EACCES;
}

/* Only where Landlock does not judge signals itself. */
static long answer_signal(const struct seccomp_question *question, struct run *run) {
  int target = (int)question->call.arguments[0];
  int number = question->call.number;
  bool is_kill = number == NR_kill;
  bool own = number == NR_pidfd_send_signal ? false
             : is_kill && target == 0       ? true
             : is_kill && target < -1       ? processes_have(-(long)target)
                                            : processes_have(target);
  if (own) return CONTINUE;
  run->denied.other++;
  return -EPERM;
}

static bool sends_signal(int number) {
  return number == NR_kill || number == NR_tgkill || number == NR_tkill || number == NR_rt_sigqueueinfo ||
         number == NR_rt_tgsigqueueinfo || number == NR_pidfd_send_signal;
}

static long answer_metadata(const struct policy *policy, const struct seccomp_question *question, struct run *run) {
  long result = policy->writable.count ? metadata_change(question, run->listener) : -EPERM;
  if (result == -EPERM || result == -EACCES) run->denied.metadata++;
  return result;
}

static long judge(const struct policy *policy, const struct seccomp_question *question, struct run *run) {
  int number = question->call.number;
  if (makes_process(number)) return answer_process(policy, (int)question->pid, run);
  if (lists_folder(number)) return answer_listing(question, run);
  if (number == NR_socket || number == NR_socketpair) return answer_socket((int)question->call.arguments[0], run);
  if (number == NR_connect || number == NR_bind || number == NR_listen) {
    run->denied.other_socket++;
    return -EACCES;
  }
  if (sends_signal(number)) return answer_signal(question, run);
  const struct refusal *row = refusal_of(number);
  if (row && row->kind == REFUSED_METADATA) return answer_metadata(policy, question, run);
  run->denied.other++;
  return -EPERM;
}

void answer_question(const struct policy *policy, struct run *run) {
  struct seccomp_question question = {0};
  if (SYS(NR_ioctl, run->listener, SECCOMP_NOTIF_RECV, &question) < 0) return;
  struct seccomp_answer answer = {.id = question.id};
  long result = judge(policy, &question, run);
  if (result == CONTINUE) answer.flags = SECCOMP_ANSWER_CONTINUE;
  else answer.error = (int)result;
  SYS(NR_ioctl, run->listener, SECCOMP_NOTIF_SEND, &answer);
}
