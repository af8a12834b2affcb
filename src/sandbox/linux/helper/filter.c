#include "filter.h"

#include "dispatch.h"
#include "refusals.h"

/* Offsets in struct seccomp_data. All checked arguments are 32 bits wide in the kernel; both machines are little endian. */
#define CALL_NUMBER 0
#define CALL_ARCHITECTURE 4
#define ARGUMENT(i) (16 + 8 * (i))

/* ioctls on a terminal that put words into the mouth of whoever reads it next */
#define TIOCSTI 0x5412
#define TIOCLINUX 0x541C
#define TIOCSCTTY 0x540E
/* ioctls that change a file's flags through a descriptor that is open for reading */
#define FS_IOC_SETFLAGS 0x40086602
#define FS_IOC32_SETFLAGS 0x40046602
#define FS_IOC_FSSETXATTR 0x401c5820
/* ioctls that name who is signalled when a socket has something */
#define FIOSETOWN 0x8901
#define SIOCSPGRP 0x8902

static void answer(u32 action) { emit(BPF_RETURN, 0, 0, action); }
static void load_argument(int i) { emit(BPF_LOAD, 0, 0, ARGUMENT(i)); }
static u32 error(int number) { return SECCOMP_ERRNO | (u32)number; }

static void answer_call(int number, u32 action) {
  begin(number);
  answer(action);
  end();
}

/* Within a block: answers when the loaded argument is the value. */
static void answer_if(u32 value, u32 action) {
  emit(BPF_EQUAL, 0, 1, value);
  answer(action);
}

static u32 counted(const struct filter_options *options, int number) {
  return options->has_listener ? SECCOMP_USER_NOTIF : error(number);
}

static void check_machine(void) {
  emit(BPF_LOAD, 0, 0, CALL_ARCHITECTURE);
  /* 32-bit calls have other numbers, so nothing below would fit them. */
  emit(BPF_EQUAL, 1, 0, NATIVE_ARCHITECTURE);
  answer(SECCOMP_KILL_PROCESS);
  emit(BPF_LOAD, 0, 0, CALL_NUMBER);
#if defined(__x86_64__)
  emit(BPF_AT_LEAST, 0, 1, X32_BIT);
  answer(error(ENOSYS));
#endif
  emit(BPF_GREATER, 0, 1, NR_LAST_KNOWN);
  answer(error(ENOSYS));
}

static void refuse_listed(const struct filter_options *options) {
  for (int i = 0; i < refusal_count; i++) {
    bool absent = refusals[i].kind == REFUSED_ABSENT;
    answer_call(refusals[i].number, absent ? error(ENOSYS) : counted(options, EPERM));
  }
}

static void gate_listing(void) {
  answer_call(NR_getdents64, SECCOMP_USER_NOTIF);
#if defined(__x86_64__)
  answer_call(NR_getdents, SECCOMP_USER_NOTIF);
#endif
}

/* The supervisor refuses the making of a process, or lets it pass within the budget; threads are free. */
static void gate_processes(const struct filter_options *options) {
  /* Without a supervisor no program with `subprocess` gets here. EPERM, not EAGAIN: shells retry that and wait. */
  u32 action = counted(options, EPERM);
#if defined(__x86_64__)
  answer_call(NR_fork, action);
  answer_call(NR_vfork, action);
#endif
  begin(NR_clone);
  load_argument(0);
  emit(BPF_ANY_BIT, 0, 1, CLONE_ANY_NAMESPACE);
  answer(error(EPERM));
  emit(BPF_ANY_BIT, 0, 1, CLONE_THREAD);
  answer(SECCOMP_ALLOW);
  answer(action);
  end();
}

/*
 * Nothing is done to sockets that are open already: standard streams may be sockets, and programs ask them things.
 * AF_UNIX stays closed with `network`: the sockets of Docker, D-Bus or an ssh agent would run things outside.
 */
static void gate_sockets(const struct policy *policy, const struct filter_options *options) {
  u32 action = counted(options, EACCES);
  if (policy->network) {
    begin(NR_socket);
    load_argument(0);
    answer_if(AF_INET, SECCOMP_ALLOW);
    answer_if(AF_INET6, SECCOMP_ALLOW);
    /* Resolvers ask the routing family for the machine's addresses. */
    emit(BPF_EQUAL, 0, 3, AF_NETLINK);
    load_argument(2);
    answer_if(NETLINK_ROUTE, SECCOMP_ALLOW);
    answer(action);
    end();
  } else {
    static const short calls[] = {NR_socket, NR_connect, NR_bind, NR_listen};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) answer_call(calls[i], action);
  }
  /* A pair of datagram sockets can be sent elsewhere with an address; a connected stream cannot. */
  begin(NR_socketpair);
  load_argument(0);
  emit(BPF_EQUAL, 0, 6, AF_UNIX);
  load_argument(1);
  emit(BPF_AND, 0, 0, SOCK_TYPE_MASK);
  answer_if(SOCK_STREAM, SECCOMP_ALLOW);
  answer_if(SOCK_SEQPACKET, SECCOMP_ALLOW);
  answer(action);
  end();
}

static void gate_ioctl(const struct filter_options *options) {
  static const u32 requests[] = {TIOCSTI,           TIOCLINUX,         TIOCSCTTY, FS_IOC_SETFLAGS,
                                 FS_IOC32_SETFLAGS, FS_IOC_FSSETXATTR, FIOSETOWN, SIOCSPGRP};
  begin(NR_ioctl);
  load_argument(1);
  for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) answer_if(requests[i], counted(options, EPERM));
  answer(SECCOMP_ALLOW);
  end();
}

static void gate_self(const struct policy *policy, const struct filter_options *options) {
  /* Whoever gives its parent-death signal up, for none or for one that it ignores, would outlive a killed supervisor. */
  begin(NR_prctl);
  load_argument(0);
  emit(BPF_EQUAL, 1, 0, PR_SET_PDEATHSIG);
  answer(SECCOMP_ALLOW);
  load_argument(1);
  answer_if(SIGKILL, SECCOMP_ALLOW);
  answer(error(EPERM));
  end();
  /* Landlock has no say over limits of other processes of the same user. */
  begin(NR_prlimit64);
  load_argument(0);
  answer_if(0, SECCOMP_ALLOW);
  if (!policy->subprocess) answer_if(options->pid, SECCOMP_ALLOW);
  answer(counted(options, EPERM));
  end();
}

/*
 * Landlock before ABI 6 does not stop signals. A program without children has nobody to signal but itself; with them, the
 * supervisor looks whether the target is one of its own.
 */
static void gate_signals(const struct policy *policy, const struct filter_options *options) {
  u32 action = counted(options, EPERM);
  static const short to_process[] = {NR_kill, NR_tgkill};
  static const short others[] = {NR_tkill, NR_pidfd_send_signal, NR_rt_sigqueueinfo, NR_rt_tgsigqueueinfo};
  for (size_t i = 0; i < sizeof to_process / sizeof *to_process; i++) {
    begin(to_process[i]);
    load_argument(0);
    if (!policy->subprocess) answer_if(options->pid, SECCOMP_ALLOW);
    answer(action);
    end();
  }
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) answer_call(others[i], action);
  /* Input on a descriptor can be made to send any signal to its owner. */
  begin(NR_fcntl);
  load_argument(1);
  answer_if(F_SETOWN, error(EPERM));
  answer_if(F_SETOWN_EX, error(EPERM));
  answer(SECCOMP_ALLOW);
  end();
}

/* Landlock before ABI 3 does not stop truncation of what is open for reading only. */
static void gate_truncation(void) {
  answer_call(NR_truncate, error(EACCES));
  /* Its flags stand behind a pointer; programs fall back to openat. */
  answer_call(NR_openat2, error(ENOSYS));
  static const struct {
    short number, flags_at;
  } opens[] = {
      {NR_openat, 2},
#if defined(__x86_64__)
      {NR_open, 1},
#endif
  };
  for (size_t i = 0; i < sizeof opens / sizeof *opens; i++) {
    begin(opens[i].number);
    load_argument(opens[i].flags_at);
    emit(BPF_ANY_BIT, 1, 0, O_TRUNC);
    answer(SECCOMP_ALLOW);
    emit(BPF_ANY_BIT, 0, 1, O_ACCMODE);
    answer(SECCOMP_ALLOW);
    answer(error(EACCES));
    end();
  }
}

struct bpf_program filter_build(const struct policy *policy, const struct filter_options *options) {
  dispatch_begin();
  check_machine();
  refuse_listed(options);
  if (options->gates_listing && options->has_listener) gate_listing();
  gate_processes(options);
  gate_sockets(policy, options);
  gate_ioctl(options);
  gate_self(policy, options);
  if (options->landlock_version < 6) gate_signals(policy, options);
  if (options->landlock_version < 3) gate_truncation();
  return dispatch_end(SECCOMP_ALLOW);
}
