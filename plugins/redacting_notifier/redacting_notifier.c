#include "../c/reyn.h"

/*
 * For `exec` at `turn_end`, with `network` granted: posts agent, status and text of the turn as JSON to `config.url`, with everything that
 * looks like a secret blacked out. A firing that is repeated after a crash has the same Idempotency-Key.
 */

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/** Beginnings of what a provider hands out as a key, and how much more has to follow. */
static const struct {
  reyn_text prefix;
  usize least;
} SECRETS[] = {
  {{"sk-", 3}, 16},   {{"ghp_", 4}, 20},  {{"gho_", 4}, 20},      {{"ghs_", 4}, 20},
  {{"AKIA", 4}, 12},  {{"xoxb-", 5}, 10}, {{"xoxp-", 5}, 10},     {{"glpat-", 6}, 16},
  {{"AIza", 4}, 30},  {{"npm_", 4}, 20},  {{"github_pat_", 11}, 20}, {{"eyJ", 3}, 30},
};

/** Names whose value is a secret: `password=…`, `token: …`. */
static const reyn_text NAMES[] = {
  {"password", 8}, {"passwd", 6}, {"secret", 6}, {"token", 5}, {"api_key", 7}, {"apikey", 6}, {"bearer", 6},
};

static bool begins(reyn_text text, usize at, reyn_text prefix, bool fold) {
  if (text.size - at < prefix.size) return false;
  for (usize i = 0; i < prefix.size; i++) {
    char c = text.at[at + i];
    if (fold && c >= 'A' && c <= 'Z') c |= 32;
    if (c != prefix.at[i]) return false;
  }
  return true;
}

static usize word_end(reyn_text text, usize at) {
  while (at < text.size && (is_word(text.at[at]) || text.at[at] == '.')) at++;
  return at;
}

/** Where the secret that begins here ends; `at` when none does. */
static usize key_end(reyn_text text, usize at) {
  if (at > 0 && is_word(text.at[at - 1])) return at;
  for (usize i = 0; i < sizeof SECRETS / sizeof *SECRETS; i++) {
    if (!begins(text, at, SECRETS[i].prefix, false)) continue;
    usize end = word_end(text, at);
    if (end - at >= SECRETS[i].prefix.size + SECRETS[i].least) return end;
  }
  return at;
}

/** Where the value that this name announces begins; `at` when it announces none. */
static usize value_start(reyn_text text, usize at) {
  for (usize i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
    if (!begins(text, at, NAMES[i], true)) continue;
    usize end = at + NAMES[i].size;
    bool is_bearer = reyn_same(NAMES[i], TEXT("bearer"));
    usize start = end;
    while (start < text.size && (text.at[start] == ' ' || text.at[start] == '"' || text.at[start] == '\'')) start++;
    if (is_bearer && start > end) return start;
    if (start >= text.size || (text.at[start] != '=' && text.at[start] != ':')) continue;
    start++;
    while (start < text.size && (text.at[start] == ' ' || text.at[start] == '"' || text.at[start] == '\'')) start++;
    return start;
  }
  return at;
}

static usize value_end(reyn_text text, usize at) {
  while (at < text.size) {
    char c = text.at[at];
    if ((u8)c <= ' ' || c == '"' || c == '\'' || c == ',' || c == ';' || c == '&') break;
    at++;
  }
  return at;
}

static reyn_text redacted(reyn_text text) {
  reyn_writer out = {0};
  for (usize at = 0; at < text.size;) {
    usize end = key_end(text, at);
    usize start = end > at ? at : value_start(text, at);
    if (end == at && start > at) end = value_end(text, start);
    if (end > start) {
      reyn_put(&out, (reyn_text){text.at + at, start - at});
      reyn_put(&out, TEXT("[redacted]"));
      at = end;
    } else {
      reyn_put_char(&out, text.at[at++]);
    }
  }
  return reyn_written(&out);
}

REYN_EXPORT(run) i32 run(void) {
  reyn_begin();
  reyn_text url = reyn_config(TEXT("url"));
  if (url.at == 0) return reyn_fail(TEXT("config.url is missing"));
  reyn_text event = reyn_input();

  reyn_writer body = {0};
  reyn_put(&body, TEXT("{\"agent\":"));
  reyn_put_json(&body, reyn_text_field(event, TEXT("agent_name")));
  reyn_put(&body, TEXT(",\"status\":"));
  reyn_put_json(&body, reyn_text_field(event, TEXT("status")));
  reyn_put(&body, TEXT(",\"text\":"));
  reyn_put_json(&body, redacted(reyn_text_field(event, TEXT("user_text"))));
  reyn_put_char(&body, '}');

  reyn_writer request = {0};
  reyn_put(&request, TEXT("{\"method\":\"POST\",\"url\":"));
  reyn_put_json(&request, url);
  reyn_put(&request, TEXT(",\"headers\":{\"content-type\":\"application/json\",\"idempotency-key\":"));
  reyn_put_json(&request, reyn_config(TEXT("reyn.firing_id")));
  reyn_put(&request, TEXT("}}"));

  i32 status = reyn_http(reyn_written(&request), reyn_written(&body), 0);
  if (status >= 200 && status < 300) return 0;
  reyn_writer error = {0};
  reyn_put(&error, TEXT("the notification was not taken: "));
  if (status == 0) reyn_put(&error, TEXT("no answer"));
  else reyn_put(&error, TEXT("status ")), reyn_put_number(&error, status);
  return reyn_fail(reyn_written(&error));
}
