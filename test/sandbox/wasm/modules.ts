import wabt from "wabt";

/** Assembles the text form of a module; every feature that an engine may know is allowed. */
export async function assemble(text: string): Promise<Uint8Array> {
  const tools = await wabt();
  const module = tools.parseWat("test.wat", text, {
    memory64: true,
    threads: true,
    exceptions: true,
  });
  try {
    return Uint8Array.from(module.toBinary({}).buffer);
  } finally {
    module.destroy();
  }
}

/** Imports of the host that the modules of these tests use, by name. */
const IMPORTS: Readonly<Record<string, string>> = {
  alloc: `(import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))`,
  store_u8: `(import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))`,
  load_u8: `(import "extism:host/env" "load_u8" (func $load_u8 (param i64) (result i32)))`,
  length: `(import "extism:host/env" "length" (func $length (param i64) (result i64)))`,
  input_length: `(import "extism:host/env" "input_length" (func $input_length (result i64)))`,
  input_offset: `(import "extism:host/env" "input_offset" (func $input_offset (result i64)))`,
  output_set: `(import "extism:host/env" "output_set" (func $output_set (param i64 i64)))`,
  error_set: `(import "extism:host/env" "error_set" (func $error_set (param i64)))`,
  config_get: `(import "extism:host/env" "config_get" (func $config_get (param i64) (result i64)))`,
  var_get: `(import "extism:host/env" "var_get" (func $var_get (param i64) (result i64)))`,
  var_set: `(import "extism:host/env" "var_set" (func $var_set (param i64 i64)))`,
  http_request: `(import "extism:host/env" "http_request" (func $http_request (param i64 i64) (result i64)))`,
  http_status_code: `(import "extism:host/env" "http_status_code" (func $http_status_code (result i32)))`,
  log: `(import "extism:host/user" "log" (func $log (param i64)))`,
  emit: `(import "extism:host/user" "emit" (func $emit (param i64)))`,
  now: `(import "extism:host/user" "now" (func $now (result i64)))`,
  random: `(import "extism:host/user" "random" (func $random (param i64) (result i64)))`,
};

/** A function `$text` that puts a text of the module's memory into a block: `(call $text (i32.const at) (i32.const length))`. */
const TEXT = `
  (func $text (param $at i32) (param $length i32) (result i64)
    (local $block i64) (local $i i32)
    (local.set $block (call $alloc (i64.extend_i32_u (local.get $length))))
    (block $done (loop $next
      (br_if $done (i32.ge_u (local.get $i) (local.get $length)))
      (call $store_u8 (i64.add (local.get $block) (i64.extend_i32_u (local.get $i)))
        (i32.load8_u (i32.add (local.get $at) (local.get $i))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br $next)))
    (local.get $block))`;

export interface PluginText {
  /** Names of imports, besides those that texts need. */
  imports?: readonly string[];
  /** Texts that the body names as `(TEXT name)`, which becomes a block that holds it. */
  texts?: Readonly<Record<string, string>>;
  /** The body of `run`, which gives an i32. */
  run: string;
  /** More definitions. */
  more?: string;
  /** Pages of memory. */
  pages?: string;
}

/** A plugin with an export `run`, in text form. */
export function pluginText({ imports = [], texts = {}, run, more = "", pages = "1" }: PluginText): string {
  const names = new Set([...imports, ...(Object.keys(texts).length > 0 ? ["alloc", "store_u8"] : [])]);
  let at = 16;
  const data: string[] = [];
  const places = new Map<string, string>();
  for (const [name, text] of Object.entries(texts)) {
    const bytes = new TextEncoder().encode(text);
    const hex = Array.from(bytes, (byte) => `\\${byte.toString(16).padStart(2, "0")}`).join("");
    data.push(`(data (i32.const ${at}) "${hex}")`);
    places.set(name, `(call $text (i32.const ${at}) (i32.const ${bytes.length}))`);
    at += bytes.length;
  }
  const filled = (body: string) =>
    body.replace(/\(TEXT (\w+)\)/g, (_all, name: string) => places.get(name) ?? "");
  return `(module
  ${[...names].map((name) => IMPORTS[name] ?? "").join("\n  ")}
  (memory (export "memory") ${pages})
  ${data.join("\n  ")}
  ${places.size > 0 ? TEXT : ""}
  ${filled(more)}
  (func (export "run") (result i32) ${filled(run)}))`;
}

export function plugin(text: PluginText): Promise<Uint8Array> {
  return assemble(pluginText(text));
}
