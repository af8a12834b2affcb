/*
 * Runs one program confined: `helper [options] -- /program [argument]…`. It stays as the program's supervisor and reports
 * on a descriptor of its own. What cannot be set up whole is not run. accompany.h has another use of it: a program that is not
 * confined, and yet ends with the runtime.
 *
 * policy.h has the options, rules.h what may be read and written, filter.h what may be called, confine.h the order of things in
 * the child, supervise.h what happens while it runs.
 */
#include "accompany.h"
#include "keeper.h"
#include "kernel.h"
#include "mounts.h"
#include "policy.h"
#include "report.h"
#include "rules.h"
#include "self_test.h"
#include "supervise.h"
#include "text.h"

#if defined(__x86_64__)
__asm__(".global _start\n_start: xor %ebp, %ebp\n mov %rsp, %rdi\n and $-16, %rsp\n call start_here\n");
#else
__asm__(".global _start\n_start: mov x29, #0\n mov x30, #0\n mov x0, sp\n and sp, x0, #-16\n bl start_here\n");
#endif

void exit_now(int code) {
  for (;;) SYS(NR_exit_group, code);
}

static struct time_span now(void) {
  struct time_span time = {0, 0};
  enum { CLOCK_MONOTONIC = 1 };
  SYS(NR_clock_gettime, CLOCK_MONOTONIC, &time);
  return time;
}

long now_ms(void) {
  struct time_span time = now();
  return time.seconds * 1000 + time.nanoseconds / 1000000;
}

long now_us(void) {
  struct time_span time = now();
  return time.seconds * 1000000 + time.nanoseconds / 1000;
}

/* A program at a real-time priority, and a supervisor that has to end it at one, can keep a processor from everybody else. */
static void run_as_others_do(void) {
  enum { SCHED_OTHER = 0 };
  int priority = 0;
  SYS(NR_sched_setscheduler, 0, SCHED_OTHER, &priority);
}

/* `stack` is what the kernel leaves for a new program: argc, argv, null, environment, null. */
void start_here(long *stack) {
  long started = now_us();
  int argc = (int)stack[0];
  char **argv = (char **)(stack + 1);
  char **environment = argv + argc + 1;
  run_as_others_do();
  if (argc == 3 && text_equal(argv[1], "--self-test")) self_test(argv[2]);
  if (argc == 3 && text_equal(argv[1], "--keep")) keep(argv[2]);
  if (argc >= 5 && text_equal(argv[1], "--accompany") && text_equal(argv[3], "--"))
    accompany(number_from(argv[2]), argv + 4, environment);

  static struct policy policy;
  read_policy(&policy, argc, argv, environment);
  int version = landlock_version(&policy);
  mounts_load();
  rules_guard(&policy);
  rules_grant(&policy);
  int rule_set = rules_make(&policy, version);
  supervise(&policy, rule_set, version, started);
}
