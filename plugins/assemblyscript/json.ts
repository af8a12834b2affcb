// As much JSON as a plugin needs: the fields of one object, and texts. The input is valid JSON, since reyn wrote it.

const QUOTE: i32 = 0x22;
const BACKSLASH: i32 = 0x5c;

/** The JSON of a field of this object, `""` when it has none: `field('{"a": {"b": 1}}', "a")` is `{"b": 1}`. */
export function field(object: string, name: string): string {
  let at = skipSpace(object, 0) + 1;
  while (true) {
    at = skipSpace(object, at);
    if (at >= object.length || object.charCodeAt(at) !== QUOTE) return "";
    const keyEnd = skipValue(object, at);
    const key = text(object.substring(at, keyEnd));
    const start = skipSpace(object, skipSpace(object, keyEnd) + 1);
    const end = skipValue(object, start);
    if (key === name) return object.substring(start, end);
    at = skipSpace(object, end) + 1;
  }
}

/** A field that is a text; `""` when it is absent or anything else. */
export function textField(object: string, name: string): string {
  return text(field(object, name));
}

/** A field that is a number; NaN when it is absent or anything else. */
export function numberField(object: string, name: string): f64 {
  const json = field(object, name);
  return json.length === 0 || json.charCodeAt(0) === QUOTE ? NaN : parseFloat(json);
}

/** The text that a JSON text stands for; `""` for any other JSON. */
export function text(json: string): string {
  if (json.length < 2 || json.charCodeAt(0) !== QUOTE) return "";
  let result = "";
  let from = 1;
  const end = json.length - 1;
  for (let at = 1; at < end; at++) {
    if (json.charCodeAt(at) !== BACKSLASH) continue;
    result += json.substring(from, at);
    const letter = json.charAt(at + 1);
    at += 1;
    if (letter === "u") {
      result += String.fromCharCode(<i32>parseInt(json.substring(at + 1, at + 5), 16));
      at += 4;
    } else if (letter === "n") result += "\n";
    else if (letter === "t") result += "\t";
    else if (letter === "r") result += "\r";
    else if (letter === "b") result += "\b";
    else if (letter === "f") result += "\f";
    else result += letter;
    from = at + 1;
  }
  return from === 1 ? json.substring(1, end) : result + json.substring(from, end);
}

/** The text as JSON, in quotes. */
export function quote(value: string): string {
  let result = '"';
  let from = 0;
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at);
    if (code >= 0x20 && code !== QUOTE && code !== BACKSLASH) continue;
    result += value.substring(from, at) + "\\";
    if (code < 0x20) result += "u00" + (code < 16 ? "0" : "") + code.toString(16);
    else result += String.fromCharCode(code);
    from = at + 1;
  }
  return result + value.substring(from) + '"';
}

function skipSpace(json: string, from: i32): i32 {
  let at = from;
  while (at < json.length && json.charCodeAt(at) <= 0x20) at++;
  return at;
}

/** Behind the value that begins here. */
function skipValue(json: string, from: i32): i32 {
  let depth = 0;
  for (let at = from; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) {
      at += 1;
      while (at < json.length && json.charCodeAt(at) !== QUOTE) at += json.charCodeAt(at) === BACKSLASH ? 2 : 1;
      if (depth === 0) return at + 1;
    } else if (code === 0x7b || code === 0x5b) depth += 1; // { [
    else if (code === 0x7d || code === 0x5d) { // } ]
      if (depth === 0) return at;
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (depth === 0 && (code === 0x2c || code <= 0x20)) return at; // , space
  }
  return json.length;
}
