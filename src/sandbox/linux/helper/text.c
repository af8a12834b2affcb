#include "text.h"

#include "kernel.h"
#include "report.h"

/*
 * Room for the path tree, the mount table and resolved paths. Pages that are not touched cost nothing; a policy that needs
 * more is refused, which 16 MiB makes a matter of tens of thousands of paths.
 */
static char arena[16 << 20];
static size_t arena_used;

/* The compiler calls these two by name, whatever is written. */
void *memcpy(void *to, const void *from, size_t size) {
  char *target = to;
  const char *source = from;
  while (size--) *target++ = *source++;
  return to;
}

void *memset(void *to, int value, size_t size) {
  char *target = to;
  while (size--) *target++ = (char)value;
  return to;
}

size_t text_length(const char *text) {
  size_t length = 0;
  while (text[length]) length++;
  return length;
}

bool text_equal(const char *a, const char *b) {
  while (*a && *a == *b) a++, b++;
  return *a == *b;
}

bool bytes_equal(const char *a, const char *b, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (a[i] != b[i]) return false;
  return true;
}

bool path_is_under(const char *path, const char *folder) {
  size_t length = text_length(folder);
  if (length == 1) return true;
  size_t i = 0;
  while (i < length && path[i] == folder[i]) i++;
  return i == length && (path[i] == 0 || path[i] == '/');
}

long number_from(const char *text) {
  long number = 0;
  if (*text < '0' || *text > '9') return -1;
  for (; *text >= '0' && *text <= '9'; text++) {
    if (number > (INT64_MAX - 9) / 10) return -1;
    number = number * 10 + (*text - '0');
  }
  return number;
}

void line_add_bytes(struct line *line, const char *bytes, size_t length) {
  if (line->length + length + 1 > line->size) {
    line->full = true;
    return;
  }
  memcpy(line->text + line->length, bytes, length);
  line->length += length;
  line->text[line->length] = 0;
}

void line_add(struct line *line, const char *text) { line_add_bytes(line, text, text_length(text)); }

void line_add_number(struct line *line, long number) {
  char digits[24];
  size_t start = sizeof digits;
  bool negative = number < 0;
  unsigned long rest = negative ? -(unsigned long)number : (unsigned long)number;
  do digits[--start] = (char)('0' + rest % 10);
  while (rest /= 10);
  if (negative) digits[--start] = '-';
  line_add_bytes(line, digits + start, sizeof digits - start);
}

void proc_path(struct line *line, const char *start, long pid, const char *end, long fd) {
  line->length = 0;
  line_add(line, start);
  if (pid >= 0) line_add_number(line, pid);
  if (end) line_add(line, end);
  if (fd >= 0) line_add_number(line, fd);
}

void *allocate(size_t size) {
  size = (size + 15) & ~(size_t)15;
  if (arena_used + size > sizeof arena) refuse("memory", -ENOMEM, 0);
  void *memory = arena + arena_used;
  arena_used += size;
  return memory;
}

char *copy_text(const char *text, size_t length) {
  char *copy = allocate(length + 1);
  memcpy(copy, text, length);
  copy[length] = 0;
  return copy;
}
