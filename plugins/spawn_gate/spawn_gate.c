#include "../c/reyn.h"

/*
 * A decision executor for `session_spawn`: refuses to start an agent program outside the folder `config.root`. At every other point, and for
 * every other folder, it changes nothing.
 */

/** Whether the path is the folder or below it. A path with `..` in it is below nothing. */
static bool is_below(reyn_text path, reyn_text root) {
  while (root.size > 1 && root.at[root.size - 1] == '/') root.size--;
  if (path.size < root.size || !reyn_same((reyn_text){path.at, root.size}, root)) return false;
  if (path.size > root.size && root.size > 1 && path.at[root.size] != '/') return false;
  for (usize i = 0; i + 2 < path.size; i++) {
    bool is_end = i + 3 == path.size || path.at[i + 3] == '/';
    if (path.at[i] == '/' && path.at[i + 1] == '.' && path.at[i + 2] == '.' && is_end) return false;
  }
  return true;
}

REYN_EXPORT(run) i32 run(void) {
  reyn_begin();
  reyn_text root = reyn_config(TEXT("root"));
  if (root.size == 0) return reyn_fail(TEXT("config.root is missing"));
  reyn_text question = reyn_input();
  if (!reyn_same(reyn_text_field(question, TEXT("method")), TEXT("session_spawn"))) {
    return reyn_output(TEXT("null"));
  }
  reyn_text cwd = reyn_text_field(reyn_field(question, TEXT("params")), TEXT("cwd"));
  if (is_below(cwd, root)) return reyn_output(TEXT("null"));

  reyn_writer reason = {0};
  reyn_put(&reason, cwd);
  reyn_put(&reason, TEXT(" is not below "));
  reyn_put(&reason, root);
  reyn_writer answer = {0};
  reyn_put(&answer, TEXT("{\"proceed\":false,\"reason\":"));
  reyn_put_json(&answer, reyn_written(&reason));
  reyn_put_char(&answer, '}');
  return reyn_output(reyn_written(&answer));
}
