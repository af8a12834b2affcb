/* Strings, and memory that is never given back. */
#ifndef TEXT_H
#define TEXT_H

#include "system.h"

size_t text_length(const char *text);
bool text_equal(const char *a, const char *b);
bool bytes_equal(const char *a, const char *b, size_t length);

/* Whether `path` is `folder` or lies below it; both canonical. */
bool path_is_under(const char *path, const char *folder);

/* Decimal digits at the start of `text`; -1 when there are none or they exceed a long. */
long number_from(const char *text);

/* A text that is built piece by piece in a buffer of fixed size; what does not fit sets `full`. */
struct line {
  char *text;
  size_t size, length;
  bool full;
};
#define LINE(name, buffer) \
  struct line name = {buffer, sizeof buffer, 0, false}; \
  line_add(&name, "")
void line_add(struct line *line, const char *text);
void line_add_bytes(struct line *line, const char *bytes, size_t length);
void line_add_number(struct line *line, long number);

/* "/proc/<pid>/fd/<fd>" and the like: every piece that is not null is added; a number follows it when not negative. */
void proc_path(struct line *line, const char *start, long pid, const char *end, long fd);

/* Zeroed memory; ends the helper when there is no more. */
void *allocate(size_t size);
char *copy_text(const char *text, size_t length);

void *memcpy(void *to, const void *from, size_t size);
void *memset(void *to, int value, size_t size);

#endif
