#include "policy.h"

#include "kernel.h"
#include "report.h"
#include "text.h"

#define DEFAULT_MOST_PROCESSES 64

/* Absolute, and without `.`, `..` and empty parts: names are compared one by one, so each must mean what it says. */
static bool is_plain_path(const char *path) {
  if (path[0] != '/' || text_length(path) >= PATH_MAX) return false;
  if (!path[1]) return true;
  while (*path) {
    const char *name = path + 1;
    const char *end = name;
    while (*end && *end != '/') end++;
    size_t length = (size_t)(end - name);
    if (length == 0 || (length <= 2 && bytes_equal(name, "..", length))) return false;
    path = end;
  }
  return true;
}

static void add(struct text_list *list, const char *text) {
  if (list->count == MOST_TEXTS) refuse("too_many", -E2BIG, text);
  list->texts[list->count++] = text;
}

static void add_path(struct text_list *list, const char *path) {
  if (!is_plain_path(path)) refuse("path_not_plain", -EINVAL, path);
  add(list, path);
}

/* Runtimes add variables of their own for a child, which the program must not see. */
static bool is_listed(const struct text_list *names, const char *variable) {
  for (int i = 0; i < names->count; i++) {
    size_t length = text_length(names->texts[i]);
    size_t at = 0;
    while (at < length && variable[at] == names->texts[i][at]) at++;
    if (at == length && variable[at] == '=') return true;
  }
  return false;
}

static char **listed_variables(const struct text_list *names, char **environment) {
  char **kept = environment;
  for (char **variable = environment; *variable; variable++)
    if (is_listed(names, *variable)) *kept++ = *variable;
  *kept = 0;
  return environment;
}

static long read_number(const char *option, const char *text, long most) {
  long number = number_from(text);
  if (number < 0 || number > most) refuse("usage", -EINVAL, option);
  return number;
}

void read_policy(struct policy *policy, int argc, char **argv, char **environment) {
  policy->most_processes = DEFAULT_MOST_PROCESSES;
  int i = 1;
  for (; i < argc && !text_equal(argv[i], "--"); i++) {
    const char *option = argv[i];
    if (text_equal(option, "--subprocess")) policy->subprocess = true;
    else if (text_equal(option, "--network")) policy->network = true;
    else if (i + 1 >= argc) refuse("usage", -EINVAL, option);
    else if (text_equal(option, "--deny")) add_path(&policy->denied, argv[++i]);
    else if (text_equal(option, "--read-only")) add_path(&policy->read_only, argv[++i]);
    else if (text_equal(option, "--write")) add_path(&policy->writable, argv[++i]);
    else if (text_equal(option, "--env")) add(&policy->variables, argv[++i]);
    else if (text_equal(option, "--processes")) policy->most_processes = (int)read_number(option, argv[++i], 1 << 20);
    else if (text_equal(option, "--timeout-ms")) policy->timeout_ms = read_number(option, argv[++i], 1L << 40);
    else if (text_equal(option, "--runtime-pid")) policy->runtime_pid = read_number(option, argv[++i], 1L << 30);
    else if (text_equal(option, "--keeper")) policy->keeper_socket = argv[++i];
    else if (text_equal(option, "--keeper-pid")) policy->keeper_pid = read_number(option, argv[++i], 1L << 30);
    else if (text_equal(option, "--report-fd")) report_fd = (int)read_number(option, argv[++i], 1024);
    else if (text_equal(option, "--assume-abi")) policy->assumed_abi = (int)read_number(option, argv[++i], 1024);
    else refuse("usage", -EINVAL, option);
  }
  if (i + 1 >= argc) refuse("usage", -EINVAL, "no program");
  policy->program = argv + i + 1;
  policy->environment = listed_variables(&policy->variables, environment);
  if (policy->program[0][0] != '/') refuse("program_not_absolute", -EINVAL, policy->program[0]);
}
