#include "relay.h"

#include "report.h"

/* The supervisor's descriptors stay clear of what the program is given. */
#define FIRST_OWN 3

struct stream {
  int from, to;       /* both -1 when there is nothing to relay, or no more */
  size_t start, end;
};

static char buffers[RELAY_STREAMS][65536];

static struct stream streams[RELAY_STREAMS] = {
    {.from = -1, .to = -1}, {.from = -1, .to = -1}, {.from = -1, .to = -1}};

static bool is_socket(int fd) {
  struct file_status status = {0};
  return SYS(NR_statx, fd, "", AT_EMPTY_PATH, STATX_TYPE, &status) == 0 && (status.mode & S_IFMT) == S_IFSOCK;
}

static int move_away(int fd) {
  long copy = SYS(NR_fcntl, fd, F_DUPFD_CLOEXEC, FIRST_OWN);
  if (copy < 0) refuse("relay", copy, 0);
  return (int)copy;
}

static void never_block(int fd) { SYS(NR_fcntl, fd, F_SETFL, SYS(NR_fcntl, fd, F_GETFL) | O_NONBLOCK); }

static void replace(int number, struct stream *stream) {
  int pair[2];
  int outside = move_away(number);
  long result = SYS(NR_pipe2, pair, O_CLOEXEC);
  if (result < 0) refuse("relay", result, 0);
  bool is_input = number == 0;
  int inside = move_away(pair[is_input ? 1 : 0]);
  result = SYS(NR_dup3, pair[is_input ? 0 : 1], number, 0);
  if (result < 0) refuse("relay", result, 0);
  SYS(NR_close, pair[0]);
  SYS(NR_close, pair[1]);
  stream->from = is_input ? outside : inside;
  stream->to = is_input ? inside : outside;
  never_block(stream->to);
}

void relay_prepare(void) {
  for (int number = 0; number < RELAY_STREAMS; number++)
    if (is_socket(number)) replace(number, &streams[number]);
}

void relay_release(void) {
  for (int number = 0; number < RELAY_STREAMS; number++)
    if (number != report_fd) SYS(NR_close, number);
}

static void finish(struct stream *stream) {
  if (stream->from >= 0) SYS(NR_close, stream->from);
  if (stream->to >= 0) SYS(NR_close, stream->to);
  stream->from = stream->to = -1;
}

void relay_want(struct poll_entry entries[RELAY_STREAMS]) {
  for (int i = 0; i < RELAY_STREAMS; i++) {
    struct stream *stream = &streams[i];
    bool holds = stream->start < stream->end;
    entries[i] = (struct poll_entry){holds ? stream->to : stream->from, holds ? POLLOUT : POLLIN, 0};
  }
}

void relay_move(const struct poll_entry entries[RELAY_STREAMS]) {
  for (int i = 0; i < RELAY_STREAMS; i++) {
    struct stream *stream = &streams[i];
    if (entries[i].fd < 0 || !entries[i].ready) continue;
    if (stream->start == stream->end) {
      long got = SYS(NR_read, stream->from, buffers[i], sizeof buffers[i]);
      if (got == -EINTR || got == -EAGAIN) continue;
      if (got <= 0) {
        finish(stream);
        continue;
      }
      stream->start = 0;
      stream->end = (size_t)got;
    }
    long sent = SYS(NR_write, stream->to, buffers[i] + stream->start, stream->end - stream->start);
    if (sent == -EINTR || sent == -EAGAIN) continue;
    if (sent < 0) finish(stream);
    else stream->start += (size_t)sent;
  }
}

void relay_stop_input(void) { finish(&streams[0]); }

bool relay_has_output(void) { return streams[1].from >= 0 || streams[2].from >= 0; }
