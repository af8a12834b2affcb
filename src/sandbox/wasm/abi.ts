/** What the host offers to plugins: every import by module and name, with its parameters and results. */

export type ValueType = "i32" | "i64" | "f32" | "f64";
export interface Signature {
  params: readonly ValueType[];
  results: readonly ValueType[];
}

/** A signature in short: `l` is i64, `i` is i32; parameters, a colon, results. */
function signature(text: string): Signature {
  const [params = [], results = []] = text.split(":").map((part) =>
    Array.from(part, (letter): ValueType => letter === "l" ? "i64" : "i32")
  );
  return { params, results };
}

function table(entries: Readonly<Record<string, string>>): Readonly<Record<string, Signature>> {
  return Object.fromEntries(Object.entries(entries).map(([name, text]) => [name, signature(text)]));
}

export const EXTISM_MODULE = "extism:host/env";
export const USER_MODULE = "extism:host/user";
export const WASI_MODULE = "wasi_snapshot_preview1";

/** The calls of Extism's plugin development kits. Texts and bytes are blocks that the host holds, named by an i64. */
const EXTISM = table({
  alloc: "l:l",
  free: "l:",
  length: "l:l",
  length_unsafe: "l:l",
  load_u8: "l:i",
  load_u64: "l:l",
  store_u8: "li:",
  store_u64: "ll:",
  input_offset: ":l",
  input_length: ":l",
  input_load_u8: "l:i",
  input_load_u64: "l:l",
  output_set: "ll:",
  error_set: "l:",
  error_get: ":l",
  config_get: "l:l",
  var_get: "l:l",
  var_set: "ll:",
  http_request: "ll:l",
  http_status_code: ":i",
  http_headers: ":l",
  log_trace: "l:",
  log_debug: "l:",
  log_info: "l:",
  log_warn: "l:",
  log_error: "l:",
  get_log_level: ":i",
});

/**
 * reyn's own. `log`: a line of text. `emit`: JSON `{"name", "values"?}` for the audit log. `now`: milliseconds since 1970.
 * `random`: so many bytes, at most 65 536, as a block.
 */
const USER = table({ log: "l:", emit: "l:", now: ":l", random: "l:l" });

/** WASI preview 1. Sockets, and what changes a file's rights, answer ENOTSUP. */
const WASI = table({
  args_get: "ii:i",
  args_sizes_get: "ii:i",
  environ_get: "ii:i",
  environ_sizes_get: "ii:i",
  clock_res_get: "ii:i",
  clock_time_get: "ili:i",
  fd_advise: "illi:i",
  fd_allocate: "ill:i",
  fd_close: "i:i",
  fd_datasync: "i:i",
  fd_fdstat_get: "ii:i",
  fd_fdstat_set_flags: "ii:i",
  fd_fdstat_set_rights: "ill:i",
  fd_filestat_get: "ii:i",
  fd_filestat_set_size: "il:i",
  fd_filestat_set_times: "illi:i",
  fd_pread: "iiili:i",
  fd_prestat_get: "ii:i",
  fd_prestat_dir_name: "iii:i",
  fd_pwrite: "iiili:i",
  fd_read: "iiii:i",
  fd_readdir: "iiili:i",
  fd_renumber: "ii:i",
  fd_seek: "ilii:i",
  fd_sync: "i:i",
  fd_tell: "ii:i",
  fd_write: "iiii:i",
  path_create_directory: "iii:i",
  path_filestat_get: "iiiii:i",
  path_filestat_set_times: "iiiilli:i",
  path_link: "iiiiiii:i",
  path_open: "iiiiillii:i",
  path_readlink: "iiiiii:i",
  path_remove_directory: "iii:i",
  path_rename: "iiiiii:i",
  path_symlink: "iiiii:i",
  path_unlink_file: "iii:i",
  poll_oneoff: "iiii:i",
  proc_exit: "i:",
  proc_raise: "i:i",
  sched_yield: ":i",
  random_get: "ii:i",
  sock_accept: "iii:i",
  sock_recv: "iiiiii:i",
  sock_send: "iiiii:i",
  sock_shutdown: "ii:i",
});

export const OFFERED: Readonly<Record<string, Readonly<Record<string, Signature>>>> = {
  [EXTISM_MODULE]: EXTISM,
  [USER_MODULE]: USER,
  [WASI_MODULE]: WASI,
};

/** Export that is called when `argv[0]` names none. */
export const DEFAULT_EXPORT = "run";
/** Export of a WASI program, which takes the input on stdin and gives its output on stdout. */
export const PROGRAM_EXPORT = "_start";
/** Most bytes that `random` gives at once. */
export const MOST_RANDOM_BYTES = 65_536;
