/* The kernel's constants and structures that the helper uses, with what each is for. */
#ifndef KERNEL_H
#define KERNEL_H

#include "system.h"

/* errno values */
#define EPERM 1
#define ENOENT 2
#define EINTR 4
#define ECHILD 10
#define EAGAIN 11
#define ENOMEM 12
#define EACCES 13
#define EFAULT 14
#define EBUSY 16
#define ENOTDIR 20
#define EINVAL 22
#define ENAMETOOLONG 36
#define ENOSYS 38
#define ELOOP 40
#define EBADFD 77
#define E2BIG 7

/* open: some flags differ by architecture */
#define AT_FDCWD (-100)
#define AT_SYMLINK_NOFOLLOW 0x100
#define AT_EMPTY_PATH 0x1000
#define O_RDONLY 0
#define O_WRONLY 1
#define O_RDWR 2
#define O_ACCMODE 3
#define O_CREAT 0100
#define O_TRUNC 01000
#define O_NONBLOCK 04000
#define O_CLOEXEC 02000000
#define O_PATH 010000000
#if defined(__aarch64__)
#define O_DIRECTORY 040000
#define O_NOFOLLOW 0100000
#else
#define O_DIRECTORY 0200000
#define O_NOFOLLOW 0400000
#endif
#define PATH_MAX 4096

#define F_GETFD 1
#define F_GETFL 3
#define F_SETFL 4
#define F_SETOWN 8
#define F_SETOWN_EX 15
#define F_DUPFD_CLOEXEC 1030
#define CLOSE_RANGE_CLOEXEC 4

/* statx */
#define STATX_BASIC_STATS 0x7ff
#define STATX_TYPE 1
#define STATX_MNT_ID 0x1000
#define S_IFMT 0170000
#define S_IFSOCK 0140000
#define S_IFLNK 0120000
#define S_IFDIR 0040000
struct file_status {
  u32 mask, block_size;
  u64 attributes;
  u32 links, uid, gid;
  u16 mode, unused;
  u64 inode, size, blocks, attributes_mask;
  struct {
    long seconds;
    u32 nanoseconds;
    int unused;
  } times[4];
  u32 rdev_major, rdev_minor, device_major, device_minor;
  u64 mount_id;
  u64 spare[13];
};

/* The d_type of a directory entry; DT_UNKNOWN makes us look. */
#define DT_UNKNOWN 0
#define DT_DIR 4
#define DT_REG 8
#define DT_LNK 10
struct directory_entry {
  u64 inode, offset;
  u16 length;
  u8 type;
  char name[];
};

/* processes */
#define SIGHUP 1
#define SIGINT 2
#define SIGKILL 9
#define SIGPIPE 13
#define SIGTERM 15
#define SIGCHLD 17
#define SIG_BLOCK 0
#define SIG_SETMASK 2
#define LAST_SIGNAL 64
#define CLONE_VM 0x100
#define CLONE_FILES 0x400
#define CLONE_PIDFD 0x1000
#define CLONE_VFORK 0x4000
#define CLONE_THREAD 0x10000
/* NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET; NEWTIME is not for clone(). */
#define CLONE_ANY_NAMESPACE 0x7e020000
#define WNOHANG 1
#define WALL 0x40000000 /* children that signal their end in other ways, too */
#define POLLIN 1
#define POLLOUT 4
#define POLLERR 8
#define POLLHUP 16
#define RLIMIT_CORE 4
struct poll_entry {
  int fd;
  short wanted, ready;
};
struct time_span {
  long seconds, nanoseconds;
};
struct kernel_sigaction {
  void *handler;
  u64 flags;
  void *restorer;
  u64 mask;
};

/* prctl */
#define PR_SET_PDEATHSIG 1
#define PR_CAPBSET_DROP 24
#define PR_SET_SECUREBITS 28
#define PR_SET_CHILD_SUBREAPER 36
#define PR_SET_NO_NEW_PRIVS 38
#define PR_CAP_AMBIENT 47
#define PR_CAP_AMBIENT_CLEAR_ALL 4
/* NOROOT and NO_SETUID_FIXUP, both locked: being uid 0 gives no capability back. */
#define SECUREBITS_NO_ROOT_POWER 0xf
#define CAPABILITY_VERSION_3 0x20080522

/* Landlock, as of ABI 7 of the kernel, with what later versions added where it tightens */
#define LANDLOCK_CREATE_RULESET_VERSION 1
#define LANDLOCK_RULE_PATH_BENEATH 1
#define LL_EXECUTE (1ULL << 0)
#define LL_WRITE_FILE (1ULL << 1)
#define LL_READ_FILE (1ULL << 2)
#define LL_READ_DIR (1ULL << 3)
#define LL_REMOVE_DIR (1ULL << 4)
#define LL_REMOVE_FILE (1ULL << 5)
#define LL_MAKE_CHAR (1ULL << 6)
#define LL_MAKE_DIR (1ULL << 7)
#define LL_MAKE_REG (1ULL << 8)
#define LL_MAKE_SOCK (1ULL << 9)
#define LL_MAKE_FIFO (1ULL << 10)
#define LL_MAKE_BLOCK (1ULL << 11)
#define LL_MAKE_SYM (1ULL << 12)
#define LL_REFER (1ULL << 13)        /* ABI 2 */
#define LL_TRUNCATE (1ULL << 14)     /* ABI 3 */
#define LL_IOCTL_DEV (1ULL << 15)    /* ABI 5 */
#define LL_RESOLVE_UNIX (1ULL << 16) /* ABI 9 */
#define LL_FILES_ABI_1 0x1fffULL
#define LL_NET_BIND_TCP 1ULL
#define LL_NET_CONNECT_TCP 2ULL
#define LL_SCOPE_ABSTRACT_SOCKET 1ULL
#define LL_SCOPE_SIGNAL 2ULL
struct landlock_ruleset {
  u64 files, network, scoped;
};
struct landlock_beneath {
  u64 access;
  int fd;
} __attribute__((packed));

/* seccomp */
#define SECCOMP_SET_MODE_FILTER 1
#define SECCOMP_FILTER_FLAG_NEW_LISTENER 8
#define SECCOMP_KILL_PROCESS 0x80000000U
#define SECCOMP_USER_NOTIF 0x7fc00000U
#define SECCOMP_ERRNO 0x00050000U
#define SECCOMP_ALLOW 0x7fff0000U
#define SECCOMP_NOTIF_RECV 0xc0502100UL
#define SECCOMP_NOTIF_SEND 0xc0182101UL
#define SECCOMP_NOTIF_ID_VALID 0x40082102UL
/* With SYNC_WAKE_UP (kernel 6.6) an answer takes about 11 us instead of 60; without it everything works. */
#define SECCOMP_NOTIF_SET_FLAGS 0x40082104UL
#define SECCOMP_NOTIF_SYNC_WAKE_UP 1
#define SECCOMP_ANSWER_CONTINUE 1
#if defined(__x86_64__)
#define NATIVE_ARCHITECTURE 0xc000003eU
#define X32_BIT 0x40000000U
#else
#define NATIVE_ARCHITECTURE 0xc00000b7U
#endif
struct seccomp_call {
  int number;
  u32 architecture;
  u64 instruction_pointer;
  u64 arguments[6];
};
struct seccomp_question {
  u64 id;
  u32 pid, flags;
  struct seccomp_call call;
};
struct seccomp_answer {
  u64 id;
  long value;
  int error;
  u32 flags;
};

/* BPF, in the classic form that seccomp takes */
struct bpf_instruction {
  u16 code;
  u8 if_true, if_false;
  u32 value;
};
struct bpf_program {
  u16 length;
  struct bpf_instruction *instructions;
};
#define BPF_LOAD 0x20   /* LD | W | ABS */
#define BPF_EQUAL 0x15  /* JMP | JEQ | K */
#define BPF_GREATER 0x25
#define BPF_AT_LEAST 0x35
#define BPF_ANY_BIT 0x45
#define BPF_JUMP 0x05     /* by any distance */
#define BPF_AND 0x54    /* ALU | AND | K */
#define BPF_RETURN 0x06

/* sockets */
#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10
#define AF_NETLINK 16
#define NETLINK_ROUTE 0
#define SOCK_STREAM 1
#define SOCK_SEQPACKET 5
#define SOCK_TYPE_MASK 0xf

#endif
