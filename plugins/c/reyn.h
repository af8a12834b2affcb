/*
 * What reyn offers to a plugin, for C without a C library. Copy this file beside your plugin; plugins/README.md tells the contract.
 * Include it from one source file only. Texts are slices, never ended by a zero byte.
 */
#ifndef REYN_H
#define REYN_H

typedef unsigned char u8;
typedef unsigned int u32;
typedef int i32;
typedef unsigned long long u64;
typedef long long i64;
typedef __SIZE_TYPE__ usize;
typedef _Bool bool;
#define true 1
#define false 0

#define REYN_IMPORT(module, name) __attribute__((import_module(module), import_name(name))) extern
/** Before a function that reyn may call: `REYN_EXPORT i32 run(void)`. */
#define REYN_EXPORT(name) __attribute__((export_name(#name)))

REYN_IMPORT("extism:host/env", "input_length") u64 host_input_length(void);
REYN_IMPORT("extism:host/env", "input_load_u8") u32 host_input_load_u8(u64 at);
REYN_IMPORT("extism:host/env", "input_load_u64") u64 host_input_load_u64(u64 at);
REYN_IMPORT("extism:host/env", "alloc") u64 host_alloc(u64 size);
REYN_IMPORT("extism:host/env", "length") u64 host_length(u64 block);
REYN_IMPORT("extism:host/env", "load_u8") u32 host_load_u8(u64 at);
REYN_IMPORT("extism:host/env", "load_u64") u64 host_load_u64(u64 at);
REYN_IMPORT("extism:host/env", "store_u8") void host_store_u8(u64 at, u32 value);
REYN_IMPORT("extism:host/env", "store_u64") void host_store_u64(u64 at, u64 value);
REYN_IMPORT("extism:host/env", "output_set") void host_output_set(u64 block, u64 size);
REYN_IMPORT("extism:host/env", "error_set") void host_error_set(u64 block);
REYN_IMPORT("extism:host/env", "config_get") u64 host_config_get(u64 key);
REYN_IMPORT("extism:host/env", "var_get") u64 host_var_get(u64 key);
REYN_IMPORT("extism:host/env", "var_set") void host_var_set(u64 key, u64 value);
REYN_IMPORT("extism:host/env", "http_request") u64 host_http_request(u64 request, u64 body);
REYN_IMPORT("extism:host/env", "http_status_code") i32 host_http_status_code(void);
REYN_IMPORT("extism:host/user", "log") void host_log(u64 line);
REYN_IMPORT("extism:host/user", "emit") void host_emit(u64 event);
REYN_IMPORT("extism:host/user", "now") i64 host_now(void);
REYN_IMPORT("extism:host/user", "random") u64 host_random(u64 size);

/* --- Memory: one arena, emptied at the start of each call by `reyn_begin`. --- */

extern u8 __heap_base;
static usize reyn_used;

/** Memory until the end of the call, aligned to 8. Traps when there is none left. */
static void *reyn_memory(usize size) {
  usize from = ((usize)&__heap_base + 7 & ~(usize)7) + reyn_used;
  usize rounded = size + 7 & ~(usize)7;
  if (rounded < size || from + rounded < from) __builtin_trap();
  usize have = __builtin_wasm_memory_size(0) << 16;
  if (from + rounded > have) {
    usize pages = (from + rounded - have + 0xffff) >> 16;
    if (__builtin_wasm_memory_grow(0, pages) == (usize)-1) __builtin_trap();
  }
  reyn_used += rounded;
  return (void *)from;
}

/** First in each exported function: an instance is used again. */
static void reyn_begin(void) { reyn_used = 0; }

/* --- Texts --- */

typedef struct {
  const char *at;
  usize size;
} reyn_text;

/** A literal as a text: `TEXT("hello")`. */
#define TEXT(literal) ((reyn_text){literal, sizeof literal - 1})
static const reyn_text reyn_none = {0, 0};

static bool reyn_same(reyn_text a, reyn_text b) {
  if (a.size != b.size) return false;
  for (usize i = 0; i < a.size; i++) {
    if (a.at[i] != b.at[i]) return false;
  }
  return true;
}

/** A text that is being written; starts as `{0}`. */
typedef struct {
  char *at;
  usize size, room;
} reyn_writer;

static void reyn_put_char(reyn_writer *out, char c) {
  if (out->size == out->room) {
    usize room = out->room ? out->room * 2 : 256;
    char *moved = reyn_memory(room);
    for (usize i = 0; i < out->size; i++) moved[i] = out->at[i];
    out->at = moved;
    out->room = room;
  }
  out->at[out->size++] = c;
}

static void reyn_put(reyn_writer *out, reyn_text text) {
  for (usize i = 0; i < text.size; i++) reyn_put_char(out, text.at[i]);
}

static void reyn_put_number(reyn_writer *out, i64 number) {
  char digits[20];
  int count = 0;
  u64 left = number < 0 ? -(u64)number : (u64)number;
  if (number < 0) reyn_put_char(out, '-');
  do digits[count++] = (char)('0' + left % 10);
  while (left /= 10);
  while (count > 0) reyn_put_char(out, digits[--count]);
}

/** The text as JSON, in quotes. */
static void reyn_put_json(reyn_writer *out, reyn_text text) {
  reyn_put_char(out, '"');
  for (usize i = 0; i < text.size; i++) {
    u8 c = (u8)text.at[i];
    if (c < 0x20) {
      reyn_put(out, TEXT("\\u00"));
      reyn_put_char(out, "0123456789abcdef"[c >> 4]);
      reyn_put_char(out, "0123456789abcdef"[c & 15]);
      continue;
    }
    if (c == '"' || c == '\\') reyn_put_char(out, '\\');
    reyn_put_char(out, (char)c);
  }
  reyn_put_char(out, '"');
}

static reyn_text reyn_written(const reyn_writer *out) { return (reyn_text){out->at, out->size}; }

/* --- Blocks of the host's memory, which are gone after the call --- */

static u64 reyn_to_host(reyn_text text) {
  u64 block = host_alloc(text.size);
  usize i = 0;
  for (; i + 8 <= text.size; i += 8) {
    u64 eight;
    __builtin_memcpy(&eight, text.at + i, 8);
    host_store_u64(block + i, eight);
  }
  for (; i < text.size; i++) host_store_u8(block + i, (u8)text.at[i]);
  return block;
}

static reyn_text reyn_from_host(u64 block) {
  if (block == 0) return reyn_none;
  usize size = (usize)host_length(block);
  char *bytes = reyn_memory(size + 8);
  usize i = 0;
  for (; i + 8 <= size; i += 8) {
    u64 eight = host_load_u64(block + i);
    __builtin_memcpy(bytes + i, &eight, 8);
  }
  for (; i < size; i++) bytes[i] = (char)host_load_u8(block + i);
  return (reyn_text){bytes, size};
}

/* --- What reyn offers --- */

/** The event, or the question of a decision point: JSON. */
static reyn_text reyn_input(void) {
  usize size = (usize)host_input_length();
  char *bytes = reyn_memory(size + 8);
  usize i = 0;
  for (; i + 8 <= size; i += 8) {
    u64 eight = host_input_load_u64(i);
    __builtin_memcpy(bytes + i, &eight, 8);
  }
  for (; i < size; i++) bytes[i] = (char)host_input_load_u8(i);
  return (reyn_text){bytes, size};
}

/** Sets the output and gives the 0 that says success. */
static i32 reyn_output(reyn_text text) {
  host_output_set(reyn_to_host(text), text.size);
  return 0;
}

/** Sets the text of an error and gives the 1 that says failure. */
static i32 reyn_fail(reyn_text text) {
  host_error_set(reyn_to_host(text));
  return 1;
}

/** A value of the hook's `config`; `at` is 0 when there is none. */
static reyn_text reyn_config(reyn_text key) { return reyn_from_host(host_config_get(reyn_to_host(key))); }

/** A variable of the hook, kept from call to call; `at` is 0 when there is none. */
static reyn_text reyn_variable(reyn_text name) { return reyn_from_host(host_var_get(reyn_to_host(name))); }

static void reyn_set_variable(reyn_text name, reyn_text value) {
  host_var_set(reyn_to_host(name), reyn_to_host(value));
}

static void reyn_remove_variable(reyn_text name) { host_var_set(reyn_to_host(name), 0); }

/**
 * Sends a request: `request` is JSON `{"url", "method"?, "headers"?}`, `body` may be `reyn_none`. Gives the status; 0 when there was no
 * answer, since the request was refused or failed. `answer` may be 0.
 */
static i32 reyn_http(reyn_text request, reyn_text body, reyn_text *answer) {
  u64 block = host_http_request(reyn_to_host(request), body.size ? reyn_to_host(body) : 0);
  if (answer) *answer = reyn_from_host(block);
  return host_http_status_code();
}

/** A line for the operator. */
static void reyn_log(reyn_text line) { host_log(reyn_to_host(line)); }

/** An event in the audit log: JSON `{"name", "values"?}`. */
static void reyn_emit(reyn_text event) { host_emit(reyn_to_host(event)); }

/** Milliseconds since 1970. */
static i64 reyn_now(void) { return host_now(); }

static reyn_text reyn_random(usize size) { return reyn_from_host(host_random(size)); }

/* --- As much JSON as a plugin needs. The input is valid JSON, since reyn wrote it. --- */

static usize reyn_skip_space(reyn_text json, usize at) {
  while (at < json.size && (u8)json.at[at] <= ' ') at++;
  return at;
}

/** Behind the value that begins here. */
static usize reyn_skip_value(reyn_text json, usize at) {
  usize depth = 0;
  for (; at < json.size; at++) {
    char c = json.at[at];
    if (c == '"') {
      for (at++; at < json.size && json.at[at] != '"'; at++) at += json.at[at] == '\\';
      if (depth == 0) return at + 1;
    } else if (c == '{' || c == '[') {
      depth++;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return at;
      if (--depth == 0) return at + 1;
    } else if (depth == 0 && (c == ',' || (u8)c <= ' ')) {
      return at;
    }
  }
  return json.size;
}

static u32 reyn_hex4(const char *at) {
  u32 value = 0;
  for (int i = 0; i < 4; i++) {
    char c = at[i];
    value = value * 16 + (u32)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
  }
  return value;
}

static void reyn_put_code(reyn_writer *out, u32 code) {
  if (code < 0x80) {
    reyn_put_char(out, (char)code);
    return;
  }
  int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  reyn_put_char(out, (char)((0xff00u >> (more + 1) & 0xffu) | code >> (6 * more)));
  while (more-- > 0) reyn_put_char(out, (char)(0x80 | (code >> (6 * more) & 0x3f)));
}

/** The text that a JSON text stands for; `at` is 0 for any other JSON. */
static reyn_text reyn_json_text(reyn_text json) {
  if (json.size < 2 || json.at[0] != '"') return reyn_none;
  reyn_writer out = {0};
  reyn_put(&out, TEXT(""));
  for (usize i = 1; i + 1 < json.size; i++) {
    char c = json.at[i];
    if (c != '\\') {
      reyn_put_char(&out, c);
      continue;
    }
    c = json.at[++i];
    if (c != 'u') {
      char plain = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c == 'b' ? '\b' : c == 'f' ? '\f' : c;
      reyn_put_char(&out, plain);
      continue;
    }
    u32 code = reyn_hex4(json.at + i + 1);
    i += 4;
    bool is_pair = code >= 0xd800 && code < 0xdc00 && i + 6 < json.size && json.at[i + 1] == '\\' && json.at[i + 2] == 'u';
    u32 low = is_pair ? reyn_hex4(json.at + i + 3) : 0;
    if (low >= 0xdc00 && low < 0xe000) {
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
      i += 6;
    } else if (code >= 0xd800 && code < 0xe000) {
      code = 0xfffd;
    }
    reyn_put_code(&out, code);
  }
  return out.at ? reyn_written(&out) : TEXT("");
}

/** The JSON of a field of this object; `at` is 0 when it has none. */
static reyn_text reyn_field(reyn_text object, reyn_text name) {
  usize at = reyn_skip_space(object, 0) + 1;
  for (;;) {
    at = reyn_skip_space(object, at);
    if (at >= object.size || object.at[at] != '"') return reyn_none;
    usize key_end = reyn_skip_value(object, at);
    reyn_text key = reyn_json_text((reyn_text){object.at + at, key_end - at});
    usize start = reyn_skip_space(object, reyn_skip_space(object, key_end) + 1);
    usize end = reyn_skip_value(object, start);
    if (reyn_same(key, name)) return (reyn_text){object.at + start, end - start};
    at = reyn_skip_space(object, end) + 1;
  }
}

/** A field that is a text; `at` is 0 when it is absent or anything else. */
static reyn_text reyn_text_field(reyn_text object, reyn_text name) {
  return reyn_json_text(reyn_field(object, name));
}

#endif
