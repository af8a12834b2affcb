import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { describe, it } from "node:test";
import { type Directive, parseDirective } from "../../src/hooks/directive.ts";

const WHOLE = '{"push_when": true, "wake": true, "message": "hi"}';
const PUSH: Directive = { status: "push", text: "hi", wake: true, session: null };

function parse(stdout: string | Uint8Array): Directive {
  return parseDirective(typeof stdout === "string" ? Buffer.from(stdout) : stdout);
}

/** The whole object with one value written otherwise; undefined leaves the key out. */
function object(changes: Record<string, string | undefined>): string {
  const written: Record<string, string | undefined> = {
    push_when: "true",
    wake: "true",
    message: '"hi"',
    ...changes,
  };
  const parts = Object.entries(written).flatMap(([key, value]) =>
    value === undefined ? [] : [`"${key}":${value}`]
  );
  return `{${parts.join(",")}}`;
}

function bad(stdout: string | Uint8Array): { reason: string; offset: number } {
  const found = parse(stdout);
  assert.equal(found.status, "bad", JSON.stringify(found));
  return found.status === "bad" ? found : { reason: "", offset: -1 };
}

describe("a directive that pushes", () => {
  const pushes: [string, string | Uint8Array, Partial<Directive>][] = [
    ["has the three required keys", WHOLE, {}],
    ["may have more keys, of any type", object({ extra: '{"message":["x"]}', version: "1e-3" }), {}],
    ["may end in newlines", `${WHOLE}\r\n\n`, {}],
    ["may begin with a byte order mark and white space", `\ufeff \n${WHOLE}`, {}],
    ["takes the last of a key that is given twice", object({ wake: 'false,"wake":true' }), {}],
    ["knows a key that is written with escapes", WHOLE.replace("wake", "\\u0077ake"), {}],
    ["stays in this session for a null session", object({ session: "null" }), {}],
    ["stays in this session for an empty session", object({ session: '""' }), {}],
    ["names another session", object({ session: '" reviewer/main "' }), { session: "reviewer/main" }],
    ["can be passive", object({ wake: "false" }), { wake: false }],
    ["is not a template", object({ message: '"{{ x }} {% y"' }), { text: "{{ x }} {% y" }],
    ["keeps white space and newlines of its message", object({ message: '" a\\n\\tb "' }), {
      text: " a\n\tb ",
    }],
    ["unescapes its message", object({ message: '"\\u00e9\\ud83d\\ude00\\/\\""' }), { text: 'é😀/"' }],
    ["takes text beyond ASCII as it is", object({ message: '"café ≤ 😀"' }), { text: "café ≤ 😀" }],
    ["takes the inner message of no other object", object({ a: '{"message":1}' }), {}],
  ];
  for (const [says, stdout, differs] of pushes) {
    it(says, () => assert.deepEqual(parse(stdout), { ...PUSH, ...differs }));
  }

  it("has U+FFFD for bytes that are not UTF-8, and loses no quote to them", () => {
    const stdout = Buffer.concat([
      Buffer.from('{"push_when":true,"wake":true,"message":"a'),
      Buffer.from([0xff, 0x62, 0xc3]),
      Buffer.from('"}'),
    ]);
    assert.deepEqual(parse(stdout), { ...PUSH, text: "a\ufffdb\ufffd" });
  });

  it("may be as large as an output can be", () => {
    const text = "\\n".repeat(500_000);
    assert.deepEqual(parse(object({ message: `"${text}"` })), { ...PUSH, text: "\n".repeat(500_000) });
    assert.deepEqual(parse(object({ extra: `[${"1,".repeat(400_000)}1]` })), PUSH);
  });
});

describe("a directive that pushes nothing", () => {
  for (const stdout of ["", " \n\t\r\n", "\ufeff", "\ufeff\n"]) {
    it(`says nothing when it prints ${JSON.stringify(stdout)}`, () => {
      assert.deepEqual(parse(stdout), { status: "empty" });
    });
  }

  it("withholds when push_when is false", () => {
    assert.deepEqual(parse(object({ push_when: "false" })), { status: "withheld" });
  });
});

describe("a directive that cannot be used", () => {
  /** `@` stands for the byte where the same output has `^`, which is not part of it. */
  const rows: [string, string, string][] = [
    [
      "push_when is a number",
      object({ push_when: "^1" }),
      '"push_when" must be true or false, is a number at byte @',
    ],
    [
      "push_when is a string",
      object({ push_when: '^"true"' }),
      '"push_when" must be true or false, is a string at byte @',
    ],
    ["wake is a number", object({ wake: "^0" }), '"wake" must be true or false, is a number at byte @'],
    ["wake is null", object({ wake: "^null" }), '"wake" must be true or false, is null at byte @'],
    ["wake is missing", `^${object({ wake: undefined })}`, '"wake" is missing from the object at byte @'],
    [
      "push_when is missing",
      `\n^${object({ push_when: undefined })}`,
      '"push_when" is missing from the object at byte @',
    ],
    [
      "message is missing",
      `^${object({ message: undefined })}`,
      '"message" is missing from the object at byte @',
    ],
    ["message is empty", object({ message: '^""' }), '"message" must not be empty at byte @'],
    [
      "message is empty though nothing is pushed",
      object({ push_when: "false", message: '^""' }),
      '"message" must not be empty at byte @',
    ],
    [
      "message is missing though nothing is pushed",
      `^${object({ push_when: "false", message: undefined })}`,
      '"message" is missing from the object at byte @',
    ],
    [
      "message is an array",
      object({ message: '^["hi"]' }),
      '"message" must be a string, is an array at byte @',
    ],
    [
      "the last of two messages is wrong",
      object({ message: '"hi","message":^{}' }),
      '"message" must be a string, is an object at byte @',
    ],
    [
      "session is a number",
      object({ session: "^7" }),
      '"session" must be a string or null, is a number at byte @',
    ],
    [
      "session is false",
      object({ session: "^false" }),
      '"session" must be a string or null, is a boolean at byte @',
    ],
    [
      "a log line comes first",
      `^loading\n${WHOLE}`,
      "something else is printed before the JSON object at byte @ (the object begins at byte 8)",
    ],
    ["it is text", "^hello", "no JSON object, something else is printed at byte @"],
    ["it is an array", `  ^[${WHOLE}]`, "an array instead of a JSON object at byte @"],
    ["it is a number", "^1\n", "no JSON object, something else is printed at byte @"],
    ["it is NaN", "^NaN", "no JSON object, something else is printed at byte @"],
    ["a second object follows", `${WHOLE}\n^${WHOLE}`, "second JSON document at byte @"],
    ["a second object follows at once", `${WHOLE}^${WHOLE}`, "second JSON document at byte @"],
    ["an array follows", `${WHOLE}\n\n ^[]`, "second JSON document at byte @"],
    ["text follows", `${WHOLE}\n^done`, "text behind the JSON object at byte @"],
    [
      "bytes beyond ASCII come before the problem",
      `${object({ message: '"é≤😀"' })}^{}`,
      "second JSON document at byte @",
    ],
    [
      "a byte order mark comes before the problem",
      `\ufeff${object({ wake: "^3" })}`,
      '"wake" must be true or false, is a number at byte @',
    ],
    ["a value is NaN", object({ extra: "^NaN" }), "not a JSON object: NaN is not JSON at byte @"],
    [
      "a value is -Infinity",
      object({ extra: "^-Infinity" }),
      "not a JSON object: -Infinity is not JSON at byte @",
    ],
    ["a value is Python's", object({ wake: "^True" }), "not a JSON object: a value is expected at byte @"],
    ["a literal goes on", object({ wake: "^truely" }), "not a JSON object: a value is expected at byte @"],
    [
      "a number has a leading zero",
      object({ extra: "0^1" }),
      "not a JSON object: a comma or } is expected at byte @",
    ],
    [
      "a number ends in its point",
      object({ extra: "1.^" }),
      "not a JSON object: a digit is expected at byte @",
    ],
    [
      "a comma is left over",
      '{"wake":true,^}',
      "not a JSON object: a key in double quotes is expected at byte @",
    ],
    [
      "single quotes are used",
      "{^'wake': true}",
      "not a JSON object: a key in double quotes is expected at byte @",
    ],
    ["a colon is missing", '{"wake" ^true}', "not a JSON object: a colon is expected at byte @"],
    [
      "a newline stands in a string",
      '{"message":"a^\nb"}',
      "not a JSON object: a control character in a string must be written as an escape at byte @",
    ],
    [
      "an escape is none",
      '{"message":"a^\\x41"}',
      "not a JSON object: a backslash that begins no escape of JSON at byte @",
    ],
    [
      "an escape is cut",
      '{"message":"a^\\u00g0"}',
      "not a JSON object: a backslash that begins no escape of JSON at byte @",
    ],
    ["it ends in a string", '{"message":"caf^', "not a JSON object: the output ends within it at byte @"],
    [
      "it ends in an escape",
      '{"message":"caf\\u00^',
      "not a JSON object: the output ends within it at byte @",
    ],
    ["it ends in the object", '{"wake":true ^', "not a JSON object: the output ends within it at byte @"],
  ];
  for (const [says, marked, reason] of rows) {
    it(says, () => {
      const at = marked.indexOf("^");
      const offset = Buffer.byteLength(marked.slice(0, at));
      const expected = { status: "bad", reason: reason.replace("@", String(offset)), offset };
      assert.deepEqual(parse(marked.slice(0, at) + marked.slice(at + 1)), expected);
    });
  }

  it("names all that is wrong with it", () => {
    const { reason, offset } = bad('{"wake":1,"message":""}');
    assert.equal(
      reason,
      '"push_when" is missing from the object at byte 0; ' +
        '"wake" must be true or false, is a number at byte 8; "message" must not be empty at byte 20',
    );
    assert.equal(offset, 0);
  });

  it("is not quoted: its text stays out of records", () => {
    for (
      const stdout of ["SECRET", '{"message":SECRET}', object({ session: '["SECRET"]' }), `${WHOLE}SECRET`]
    ) {
      assert.doesNotMatch(bad(stdout).reason, /SECRET/);
    }
  });

  it("is nested without end", () => {
    const found = bad(`{"a":${"[".repeat(100_000)}`);
    assert.match(found.reason, /nested deeper than 200 levels/);
  });

  it("is what JSON.parse refuses, and nothing else is", () => {
    const pieces = [
      '"a"',
      "1",
      "-0.5e+7",
      "01",
      "tru",
      "null",
      "[]",
      "[1,]",
      '{"b":{}}',
      '"\\q"',
      "-",
      "1e",
      "\u00a0",
    ];
    for (const piece of pieces) {
      const text = object({ extra: piece });
      let valid = true;
      try {
        JSON.parse(text);
      } catch {
        valid = false;
      }
      assert.equal(parse(text).status, valid ? "push" : "bad", text);
    }
  });
});
