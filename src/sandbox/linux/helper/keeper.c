#include "keeper.h"

#include "evidence.h"
#include "kernel.h"
#include "report.h"
#include "text.h"

/* Hooks of one reyn differ in few policies; the one that was not used longest goes first. */
#define MOST_KEPT 8
/*
 * A rule set holds the files that it has rules for: the room of a deleted one is given back only when the set goes. So none is
 * kept longer than this after its last use; runs that are further apart can bear the building.
 */
#define KEPT_MS 5000
/* Nobody waits on a keeper that does not answer. */
#define ANSWER_MS 50
#define LARGEST_MESSAGE (32 << 10)

#define SOL_SOCKET 1
#define SO_PEERCRED 17
#define SCM_RIGHTS 1
#define SOCK_CLOEXEC 02000000
#define MSG_CMSG_CLOEXEC 0x40000000
#define MSG_NOSIGNAL 0x4000
#define MSG_CTRUNC 8

enum { FETCH = 1, OFFER, FOUND, NOTHING };

struct head {
  u32 kind, size; /* of the evidence behind it */
  struct fingerprint print;
};

struct unix_address {
  u16 family;
  char path[108];
};

struct message {
  void *name;
  u32 name_length, unused;
  struct {
    void *bytes;
    size_t length;
  } *parts;
  size_t part_count;
  void *control;
  size_t control_length;
  u32 flags, unused_too;
};

/* One descriptor on its way. */
struct passed {
  size_t length;
  int level, type, fd, unused;
};

static char received[LARGEST_MESSAGE] __attribute__((aligned(8)));

static long send_message(int socket, const struct head *head, const char *bytes, int fd) {
  struct passed passed = {sizeof passed - sizeof(int), SOL_SOCKET, SCM_RIGHTS, fd, 0};
  struct {
    void *bytes;
    size_t length;
  } parts[2] = {{(void *)head, sizeof *head}, {(void *)bytes, head->size}};
  struct message message = {.parts = (void *)parts, .part_count = 2};
  if (fd >= 0) {
    message.control = &passed;
    message.control_length = sizeof passed;
  }
  return SYS(NR_sendmsg, socket, &message, MSG_NOSIGNAL);
}

/* The message is in `received` then. `fd` becomes -1 when none came. */
static bool receive_message(int socket, struct head *head, int *fd) {
  struct passed passed = {0};
  struct {
    void *bytes;
    size_t length;
  } part = {received, sizeof received};
  struct message message = {
      .parts = (void *)&part, .part_count = 1, .control = &passed, .control_length = sizeof passed};
  *fd = -1;
  struct poll_entry entry = {socket, POLLIN, 0};
  struct time_span wait = {0, ANSWER_MS * 1000000L};
  if (SYS(NR_ppoll, &entry, 1, &wait, 0, 8) <= 0) return false;
  long length = SYS(NR_recvmsg, socket, &message, MSG_CMSG_CLOEXEC);
  bool has_fd = message.control_length >= sizeof passed - sizeof(int) && passed.type == SCM_RIGHTS;
  if (has_fd) *fd = passed.fd;
  if (length < (long)sizeof *head || (message.flags & MSG_CTRUNC)) return false;
  memcpy(head, received, sizeof *head);
  return (size_t)length == sizeof *head + head->size;
}

static void close_if_open(int fd) {
  if (fd >= 0) SYS(NR_close, fd);
}

static size_t address_of(const char *path, struct unix_address *address) {
  address->family = AF_UNIX;
  size_t length = text_length(path);
  if (length >= sizeof address->path) return 0;
  memcpy(address->path, path, length + 1);
  return sizeof address->family + length + 1;
}

/* Whom we talk to; a process of another number or account is not the keeper, nor a helper. */
static bool peer_is(int socket, long pid) {
  struct {
    int pid;
    u32 uid, gid;
  } peer = {0};
  u32 size = sizeof peer;
  if (SYS(NR_getsockopt, socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0) return false;
  return peer.uid == (u32)SYS(NR_getuid) && (!pid || peer.pid == pid);
}

struct kept {
  int rule_set; /* -1: free */
  long last_use;
  struct fingerprint print;
  u32 size;
  char evidence[LARGEST_MESSAGE];
};

static struct kept store[MOST_KEPT];

static bool same_print(const struct fingerprint *a, const struct fingerprint *b) {
  return a->halves[0] == b->halves[0] && a->halves[1] == b->halves[1];
}

static struct kept *find(const struct fingerprint *print) {
  for (int i = 0; i < MOST_KEPT; i++)
    if (store[i].rule_set >= 0 && same_print(&store[i].print, print)) return &store[i];
  return 0;
}

static void drop(struct kept *kept) {
  close_if_open(kept->rule_set);
  kept->rule_set = -1;
}

static void take_in(const struct head *head, int rule_set) {
  struct kept *place = find(&head->print);
  for (int i = 0; !place && i < MOST_KEPT; i++)
    if (store[i].rule_set < 0) place = &store[i];
  if (!place) {
    place = &store[0];
    for (int i = 1; i < MOST_KEPT; i++)
      if (store[i].last_use < place->last_use) place = &store[i];
  }
  drop(place);
  place->rule_set = rule_set;
  place->last_use = now_ms();
  place->print = head->print;
  place->size = head->size;
  memcpy(place->evidence, received + sizeof *head, head->size);
}

static void serve(int client) {
  struct head head;
  int fd;
  bool complete = receive_message(client, &head, &fd) && peer_is(client, 0);
  if (complete && head.kind == OFFER && fd >= 0) {
    take_in(&head, fd);
    return;
  }
  close_if_open(fd);
  if (!complete || head.kind != FETCH) return;
  struct kept *kept = find(&head.print);
  if (kept) kept->last_use = now_ms();
  struct head answer = {kept ? FOUND : NOTHING, kept ? kept->size : 0, head.print};
  send_message(client, &answer, kept ? kept->evidence : 0, kept ? kept->rule_set : -1);
}

/* Milliseconds until the next rule set goes; -1 when there is none. */
static long drop_old(void) {
  long next = -1, now = now_ms();
  for (int i = 0; i < MOST_KEPT; i++) {
    if (store[i].rule_set < 0) continue;
    long left = store[i].last_use + KEPT_MS - now;
    if (left <= 0) drop(&store[i]);
    else if (next < 0 || left < next) next = left;
  }
  return next;
}

void keep(const char *socket_path) {
  for (int i = 0; i < MOST_KEPT; i++) store[i].rule_set = -1;
  struct unix_address address = {0};
  size_t size = address_of(socket_path, &address);
  long listener = SYS(NR_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (!size || listener < 0) refuse("keeper", listener, socket_path);
  SYS(NR_unlinkat, AT_FDCWD, socket_path, 0);
  long result = SYS(NR_bind, listener, &address, size);
  if (result >= 0) result = SYS(NR_listen, listener, 16);
  if (result < 0) refuse("keeper", result, socket_path);
  for (;;) {
    long left = drop_old();
    struct poll_entry entries[2] = {{0, POLLIN, 0}, {(int)listener, POLLIN, 0}};
    struct time_span wait = {left / 1000, left % 1000 * 1000000};
    SYS(NR_ppoll, entries, 2, left >= 0 ? &wait : 0, 0, 8);
    if (entries[0].ready) {
      SYS(NR_unlinkat, AT_FDCWD, socket_path, 0);
      exit_now(0);
    }
    if (!entries[1].ready) continue;
    long client = SYS(NR_accept4, listener, 0, 0, SOCK_CLOEXEC);
    if (client < 0) continue;
    serve((int)client);
    SYS(NR_close, client);
  }
}

static int reach(const struct policy *policy) {
  struct unix_address address = {0};
  size_t size = policy->keeper_socket ? address_of(policy->keeper_socket, &address) : 0;
  if (!size) return -1;
  /* Not to wait for a keeper that is stopped, or has too many callers. */
  long fd = SYS(NR_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | O_NONBLOCK, 0);
  if (fd < 0) return -1;
  if (SYS(NR_connect, fd, &address, size) == 0 && peer_is((int)fd, policy->keeper_pid)) return (int)fd;
  SYS(NR_close, fd);
  return -1;
}

int keeper_fetch(const struct policy *policy) {
  int keeper = reach(policy);
  if (keeper < 0) return -1;
  struct head head = {FETCH, 0, fingerprint_now()};
  struct head answer = {0};
  int rule_set = -1;
  bool complete = send_message(keeper, &head, 0, -1) >= 0 && receive_message(keeper, &answer, &rule_set);
  SYS(NR_close, keeper);
  if (complete && answer.kind == FOUND && rule_set >= 0 && same_print(&answer.print, &head.print) &&
      evidence_holds(received + sizeof answer, answer.size))
    return rule_set;
  close_if_open(rule_set);
  return -1;
}

void keeper_offer(const struct policy *policy, int rule_set) {
  size_t size;
  const char *evidence = evidence_bytes(&size);
  int keeper = evidence ? reach(policy) : -1;
  if (keeper < 0) return;
  struct head head = {OFFER, (u32)size, fingerprint_now()};
  send_message(keeper, &head, evidence, rule_set);
  SYS(NR_close, keeper);
}
