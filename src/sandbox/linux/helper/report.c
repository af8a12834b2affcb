#include "report.h"

#include "kernel.h"
#include "rules.h"
#include "text.h"

/* Shells use 125 for "the command could not be run"; the report, not the code, is what the runtime believes. */
#define EXIT_REFUSED 125

int report_fd = 2;

static char buffer[8192];

static void add_quoted(struct line *line, const char *text) {
  line_add(line, "\"");
  for (; *text; text++) {
    char c = *text;
    if (c == '"' || c == '\\') line_add(line, "\\");
    /* Names of files may be any bytes; a message needs no more than ASCII. */
    if (c < 32 || c > 126) c = '?';
    line_add_bytes(line, &c, 1);
  }
  line_add(line, "\"");
}

static void add_field(struct line *line, const char *name, long value) {
  line_add(line, line->text[line->length - 1] == '{' ? "\"" : ",\"");
  line_add(line, name);
  line_add(line, "\":");
  line_add_number(line, value);
}

static void send_line(struct line *line) {
  line_add(line, "}\n");
  SYS(NR_write, report_fd, line->text, line->length);
}

void refuse(const char *stage, long error, const char *path) {
  LINE(line, buffer);
  line_add(&line, "{\"v\":1,\"ok\":false,\"stage\":");
  add_quoted(&line, stage);
  add_field(&line, "errno", error < 0 ? -error : 0);
  if (path) {
    line_add(&line, ",\"path\":");
    add_quoted(&line, path);
  }
  send_line(&line);
  exit_now(EXIT_REFUSED);
}

void report_started(long pid) {
  LINE(line, buffer);
  line_add(&line, "{\"v\":1,\"started\":");
  line_add_number(&line, pid);
  send_line(&line);
}

void report_end(const struct run *run, int landlock_abi, long rules) {
  LINE(line, buffer);
  line_add(&line, "{\"v\":1,\"ok\":true");
  int signal = run->status & 0x7f;
  if (signal == 0) add_field(&line, "exit", (run->status >> 8) & 0xff);
  add_field(&line, "signal", signal);
  add_field(&line, "timed_out", run->timed_out);
  add_field(&line, "terminated", run->terminated);
  add_field(&line, "left_killed", run->left_killed);
  add_field(&line, "abi", landlock_abi);
  add_field(&line, "rules", rules);
  add_field(&line, "kept", !rules_were_built());
  add_field(&line, "counted", run->listener >= 0 || run->had_listener);
  add_field(&line, "setup_us", run->setup_us);
  add_field(&line, "forks", run->forks);
  line_add(&line, ",\"denied\":{");
  add_field(&line, "fork", run->denied.fork);
  add_field(&line, "fork_budget", run->denied.fork_budget);
  add_field(&line, "inet", run->denied.inet);
  add_field(&line, "unix", run->denied.unix_socket);
  add_field(&line, "socket", run->denied.other_socket);
  add_field(&line, "metadata", run->denied.metadata);
  add_field(&line, "listing", run->denied.listing);
  add_field(&line, "other", run->denied.other);
  line_add(&line, "}");
  send_line(&line);
}
