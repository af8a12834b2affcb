/* attacker OPERATION [ARGUMENT]…: prints {"result": N, "errno": N, "text": "…"}, which is also a directive to push just that. What was
   refused is said on stderr as well: of a hook that fails, reyn shows the end of it. */
#include "attacker.h"

static char said[8192];

void say(const char *text) {
  size_t used = strlen(said);
  snprintf(said + used, sizeof said - used, "%s", text);
}

long number(const char *text) { return strtol(text, 0, 0); }

static void quote(FILE *to, size_t most) {
  for (const char *c = said; *c && most; c++, most--) {
    if (*c == '"' || *c == '\\') putc('\\', to);
    putc(*c < 32 || *c > 126 ? ' ' : *c, to);
  }
}

static void answer(long result, int error) {
  if (result >= 0) error = 0;
  printf("{\"result\":%ld,\"errno\":%d,\"text\":\"", result, error);
  quote(stdout, sizeof said);
  printf("\",\"push_when\":true,\"wake\":false,\"message\":\"result %ld errno %d text ", result, error);
  quote(stdout, sizeof said);
  printf("\"}\n");
  if (result < 0) {
    fprintf(stderr, "result %ld errno %d text ", result, error);
    quote(stderr, 200);
    fprintf(stderr, "\n");
  }
}

int main(int argc, char **argv) {
  static const struct operation *const tables[] = {process_operations, file_operations, metadata_operations,
                                                   socket_operations, kernel_operations};
  if (argc < 2) return 64;
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    for (const struct operation *operation = tables[i]; operation->name; operation++) {
      if (strcmp(operation->name, argv[1])) continue;
      if (argc - 2 < operation->arguments) return 65;
      errno = 0;
      long result = operation->run(argv + 2);
      answer(result, errno);
      fflush(stdout);
      /* Threads and children are not waited for. */
      _exit(result < 0 ? 1 : 0);
    }
  }
  fprintf(stderr, "no operation %s\n", argv[1]);
  return 66;
}
