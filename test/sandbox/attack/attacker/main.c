/* attacker OPERATION [ARGUMENT]…: prints {"result": N, "errno": N, "text": "…"}. */
#include "attacker.h"

static char said[8192];

void say(const char *text) {
  size_t used = strlen(said);
  snprintf(said + used, sizeof said - used, "%s", text);
}

long number(const char *text) { return strtol(text, 0, 0); }

static void answer(long result, int error) {
  printf("{\"result\":%ld,\"errno\":%d,\"text\":\"", result, result < 0 ? error : 0);
  for (const char *c = said; *c; c++) {
    if (*c == '"' || *c == '\\') putchar('\\');
    putchar(*c < 32 || *c > 126 ? ' ' : *c);
  }
  printf("\"}\n");
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
