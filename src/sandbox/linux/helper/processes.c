#include "processes.h"

#include "kernel.h"
#include "text.h"

/* More than a budget ever lets live; what is beyond is met in the next round of a kill. */
#define MOST_PROCESSES 4096

static int found[MOST_PROCESSES];

/* Adds the numbers in a file of blanks and digits. */
static int read_children(const char *path, int count, int most) {
  long fd = SYS(NR_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return count;
  char buffer[4096];
  long got, number = 0;
  bool in_number = false;
  while ((got = SYS(NR_read, fd, buffer, sizeof buffer)) > 0) {
    for (long i = 0; i < got; i++) {
      if (buffer[i] >= '0' && buffer[i] <= '9') {
        number = number * 10 + (buffer[i] - '0');
        in_number = true;
      } else if (in_number) {
        if (count < most) found[count++] = (int)number;
        number = 0;
        in_number = false;
      }
    }
  }
  SYS(NR_close, fd);
  return count;
}

/* Adds the children of every thread of one process. */
static int add_children(long pid, int count, int most) {
  char text[96];
  struct line path = {text, sizeof text, 0, false};
  proc_path(&path, "/proc/", pid, "/task", -1);
  long threads = SYS(NR_openat, AT_FDCWD, text, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (threads < 0) return count;
  char buffer[1024];
  long length;
  while ((length = SYS(NR_getdents64, threads, buffer, sizeof buffer)) > 0) {
    for (long at = 0; at < length;) {
      struct directory_entry *entry = (struct directory_entry *)(buffer + at);
      at += entry->length;
      if (entry->name[0] == '.') continue;
      proc_path(&path, "/proc/", pid, "/task/", number_from(entry->name));
      line_add(&path, "/children");
      count = read_children(text, count, most);
    }
  }
  SYS(NR_close, threads);
  return count;
}

/* Fills `found` with everything below this process. */
static int find_all(int most) {
  if (most > MOST_PROCESSES) most = MOST_PROCESSES;
  int count = add_children(SYS(NR_getpid), 0, most);
  for (int i = 0; i < count; i++) count = add_children(found[i], count, most);
  return count;
}

bool processes_can_be_listed(void) {
  char text[96];
  struct line path = {text, sizeof text, 0, false};
  long self = SYS(NR_getpid);
  proc_path(&path, "/proc/", self, "/task/", self);
  line_add(&path, "/children");
  long fd = SYS(NR_openat, AT_FDCWD, text, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  SYS(NR_close, fd);
  return true;
}

static int makers[MOST_PROCESSES];
static int maker_count;

void processes_let_make(int thread) {
  if (maker_count < MOST_PROCESSES) makers[maker_count++] = thread;
}

void processes_heard_of(int thread) {
  int kept = 0;
  for (int i = 0; i < maker_count; i++) {
    if (makers[i] != thread) makers[kept++] = makers[i];
  }
  maker_count = kept;
}

/* One that sleeps has come out of the call, as has one that is gone. */
static bool is_awake(int thread) {
  char text[64], state[256];
  struct line path = {text, sizeof text, 0, false};
  proc_path(&path, "/proc/", thread, "/stat", -1);
  long fd = SYS(NR_openat, AT_FDCWD, text, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  long length = SYS(NR_read, fd, state, sizeof state);
  SYS(NR_close, fd);
  /* "PID (NAME) STATE …": a name may hold parentheses, what follows it holds none. */
  while (length > 0 && state[length - 1] != ')') length--;
  if (length == 0 || length + 1 >= (long)sizeof state) return false;
  char letter = state[length + 1];
  return letter == 'R' || letter == 'D';
}

int processes_count(int most) {
  /* Before the children: one that is born in between is counted twice, never not at all. */
  int kept = 0;
  for (int i = 0; i < maker_count; i++) {
    if (is_awake(makers[i])) makers[kept++] = makers[i];
  }
  maker_count = kept;
  return find_all(most) + kept;
}

bool processes_have(long pid) {
  if (pid <= 1) return false;
  int count = find_all(MOST_PROCESSES);
  for (int i = 0; i < count; i++) {
    if (found[i] == pid) return true;
    char text[96];
    struct line path = {text, sizeof text, 0, false};
    proc_path(&path, "/proc/", found[i], "/task/", pid);
    long fd = SYS(NR_openat, AT_FDCWD, text, O_PATH | O_CLOEXEC);
    if (fd < 0) continue;
    SYS(NR_close, fd);
    return true;
  }
  return false;
}

int processes_kill(void) {
  int count = find_all(MOST_PROCESSES);
  for (int i = 0; i < count; i++) SYS(NR_kill, found[i], SIGKILL);
  return count;
}
