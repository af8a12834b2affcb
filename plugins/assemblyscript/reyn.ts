// What reyn offers to a plugin, for AssemblyScript. Copy this file beside your plugin; plugins/README.md tells the contract.
// Build with `--use abort=reyn/abort`, so that the operator is told of a failed assertion.
// `@external` is AssemblyScript's and no TypeScript: the comment before each is for editors and checkers of TypeScript.

// @ts-ignore: decorator
@external("extism:host/env", "input_length") declare function inputLength(): u64;
// @ts-ignore: decorator
@external("extism:host/env", "input_load_u8") declare function inputLoadU8(at: u64): u32;
// @ts-ignore: decorator
@external("extism:host/env", "input_load_u64") declare function inputLoadU64(at: u64): u64;
// @ts-ignore: decorator
@external("extism:host/env", "alloc") declare function alloc(size: u64): u64;
// @ts-ignore: decorator
@external("extism:host/env", "length") declare function length(block: u64): u64;
// @ts-ignore: decorator
@external("extism:host/env", "load_u8") declare function loadU8(at: u64): u32;
// @ts-ignore: decorator
@external("extism:host/env", "load_u64") declare function loadU64(at: u64): u64;
// @ts-ignore: decorator
@external("extism:host/env", "store_u8") declare function storeU8(at: u64, value: u32): void;
// @ts-ignore: decorator
@external("extism:host/env", "store_u64") declare function storeU64(at: u64, value: u64): void;
// @ts-ignore: decorator
@external("extism:host/env", "output_set") declare function outputSet(block: u64, size: u64): void;
// @ts-ignore: decorator
@external("extism:host/env", "error_set") declare function errorSet(block: u64): void;
// @ts-ignore: decorator
@external("extism:host/env", "config_get") declare function configGet(key: u64): u64;
// @ts-ignore: decorator
@external("extism:host/env", "var_get") declare function varGet(key: u64): u64;
// @ts-ignore: decorator
@external("extism:host/env", "var_set") declare function varSet(key: u64, value: u64): void;
// @ts-ignore: decorator
@external("extism:host/env", "http_request") declare function httpRequest(request: u64, body: u64): u64;
// @ts-ignore: decorator
@external("extism:host/env", "http_status_code") declare function httpStatusCode(): i32;
// @ts-ignore: decorator
@external("extism:host/user", "log") declare function hostLog(line: u64): void;
// @ts-ignore: decorator
@external("extism:host/user", "emit") declare function hostEmit(event: u64): void;
// @ts-ignore: decorator
@external("extism:host/user", "now") declare function hostNow(): i64;
// @ts-ignore: decorator
@external("extism:host/user", "random") declare function hostRandom(size: u64): u64;

/** Copies bytes into a block of the host's memory, which is gone after the call. */
function toHost(bytes: ArrayBuffer): u64 {
  const size = bytes.byteLength;
  const from = changetype<usize>(bytes);
  const block = alloc(<u64>size);
  let at = 0;
  for (; at + 8 <= size; at += 8) storeU64(block + <u64>at, load<u64>(from + at));
  for (; at < size; at++) storeU8(block + <u64>at, <u32>load<u8>(from + at));
  return block;
}

function textToHost(text: string): u64 {
  return toHost(String.UTF8.encode(text));
}

/** The bytes of a block of the host's memory. */
function fromHost(block: u64): ArrayBuffer {
  const size = <i32>length(block);
  const bytes = new ArrayBuffer(size);
  const to = changetype<usize>(bytes);
  let at = 0;
  for (; at + 8 <= size; at += 8) store<u64>(to + at, loadU64(block + <u64>at));
  for (; at < size; at++) store<u8>(to + at, <u8>loadU8(block + <u64>at));
  return bytes;
}

function textOf(block: u64): string {
  return String.UTF8.decode(fromHost(block));
}

/** The event, or the question of a decision point: JSON. */
export function input(): string {
  const size = <i32>inputLength();
  const bytes = new ArrayBuffer(size);
  const to = changetype<usize>(bytes);
  let at = 0;
  for (; at + 8 <= size; at += 8) store<u64>(to + at, inputLoadU64(<u64>at));
  for (; at < size; at++) store<u8>(to + at, <u8>inputLoadU8(<u64>at));
  return String.UTF8.decode(bytes);
}

/** Sets the output and gives the 0 that says success. */
export function output(text: string): i32 {
  const bytes = String.UTF8.encode(text);
  outputSet(toHost(bytes), <u64>bytes.byteLength);
  return 0;
}

/** Sets the text of an error and gives the 1 that says failure. */
export function fail(text: string): i32 {
  errorSet(textToHost(text));
  return 1;
}

/** A value of the hook's `config`; null when there is none. */
export function config(key: string): string | null {
  const block = configGet(textToHost(key));
  return block === 0 ? null : textOf(block);
}

/** A variable of the hook, kept from call to call; null when there is none. */
export function variable(name: string): string | null {
  const block = varGet(textToHost(name));
  return block === 0 ? null : textOf(block);
}

export function setVariable(name: string, value: string): void {
  varSet(textToHost(name), textToHost(value));
}

export function removeVariable(name: string): void {
  varSet(textToHost(name), 0);
}

export class Answer {
  constructor(
    /** 0: there was no answer, the request was refused or failed. */
    public status: i32,
    public body: string,
  ) {}
}

/** Sends a request: `request` is JSON `{"url", "method"?, "headers"?}`; an empty body is none. */
export function http(request: string, body: string): Answer {
  const block = httpRequest(textToHost(request), body.length === 0 ? 0 : textToHost(body));
  return new Answer(httpStatusCode(), block === 0 ? "" : textOf(block));
}

/** A line for the operator. */
export function log(line: string): void {
  hostLog(textToHost(line));
}

/** An event in the audit log: JSON `{"name", "values"?}`. */
export function emit(event: string): void {
  hostEmit(textToHost(event));
}

/** Milliseconds since 1970. */
export function now(): i64 {
  return hostNow();
}

export function random(size: i32): ArrayBuffer {
  return fromHost(hostRandom(<u64>size));
}

/** Called by the language when an assertion fails: tells the operator where, and ends the call. */
export function abort(message: string | null, file: string | null, line: u32, column: u32): void {
  const place = `${file === null ? "?" : file}:${line.toString()}:${column.toString()}`;
  log(`${message === null ? "abort" : message} at ${place}`);
  unreachable();
}
