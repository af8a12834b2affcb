import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { formatFinding } from "../../src/errors/finding.ts";
import type { RemoteTarget } from "../../src/decisions/declaration.ts";
import { parseDeclaration } from "../../src/decisions/read_declaration.ts";
import { DECISION_POINTS } from "../../src/points/decisions.ts";

const places = { shown: "cli-config.yaml", folder: "/etc/reyn", home: "/home/op" };

function accepted(text: string) {
  const read = parseDeclaration(text, places);
  assert.ok(read.ok, read.ok ? "" : read.findings.map(formatFinding).join("\n"));
  return read.declaration;
}

/** The lines of what is refused. */
function refused(text: string): string {
  const read = parseDeclaration(text, places);
  assert.equal(read.ok, false, `accepted:\n${text}`);
  return read.ok ? "" : read.findings.map(formatFinding).join("\n");
}

const local = (rest: string) => `hooks:\n  - name: audit\n    path: hooks.ts\n${indent(rest)}`;
const remote = (rest: string, url = "https://h.example/x") =>
  `hooks:\n  - name: audit\n    url: "${url}"\n${indent(rest)}`;
const indent = (text: string) => text.split("\n").map((line) => `    ${line}`).join("\n");

describe("a declaration", () => {
  it("may be absent or empty", () => {
    for (const text of ["", "hooks:\n", "hooks: []\n", "# nothing\n"]) {
      assert.deepEqual(accepted(text), { hooks: [], chainTimeoutMs: Infinity });
    }
  });

  it("must be a list of mappings", () => {
    assert.match(refused("hooks: {a: 1}\n"), /hooks: must be a list/);
    assert.match(refused("hooks: [7]\n"), /cli-config.yaml:1:9 .*hooks\[0\]: must be a mapping, got 7/);
  });

  it("needs a name of the right shape", () => {
    assert.match(refused("hooks: [{path: a.ts}]"), /hooks\[0\]: missing key "name"/);
    for (const name of ["Audit", "1audit", "a_b", '"a\\n"', '""', "-a"]) {
      assert.match(refused(`hooks: [{name: ${name}, path: a.ts}]`), /E_HOOK_NAME hooks\[0\]/);
    }
    assert.match(refused("hooks: [{name: 7, path: a.ts}]"), /must be text, got 7/);
    assert.equal(accepted("hooks: [{name: a-1, path: a.ts}]").hooks[0]?.name, "a-1");
  });

  it("refuses a name that is taken, saying where", () => {
    const text = "hooks:\n  - {name: audit, path: a.ts}\n  - {name: audit, path: b.ts}\n";
    assert.match(
      refused(text),
      /:3:12 E_HOOK_NAME hooks\[1\] "audit".name: "audit" is taken by hooks\[0\] in line 2/,
    );
  });

  it("needs exactly one executor, where an empty one counts as none", () => {
    assert.match(refused("hooks: [{name: audit}]"), /E_EXECUTOR_KIND hooks\[0\] "audit": names no executor/);
    assert.match(refused("hooks: [{name: audit, path: a.ts, url: https://h/x}]"), /"audit".*path and url/);
    for (const none of ['""', '"  "', "null", ""]) {
      const [hook] = accepted(`hooks: [{name: audit, module: ${none}, path: " a.ts "}]`).hooks;
      assert.equal(hook?.executor.target, "/etc/reyn/a.ts");
    }
  });

  it("takes `on` bare and quoted, and refuses both together by the entry's name", () => {
    for (const key of ["on", '"on"', "'on'"]) {
      assert.deepEqual(accepted(local(`${key}: [work_item_start]`)).hooks[0]?.on, ["work_item_start"]);
    }
    assert.match(
      refused(local('on: [work_item_start]\n"on": [phase_changed]')),
      /E_YAML_DUPLICATE_KEY.*"audit".*"on"/,
    );
    assert.match(
      refused(local("true: [work_item_start]")),
      /E_KEY_UNKNOWN hooks\[0\] "audit": unknown key true/,
    );
  });

  it("takes points of the catalog only, as a list that is not empty", () => {
    const lines = refused(local("on: [session_closed]"));
    assert.match(lines, /E_HOOK_POINT hooks\[0\] "audit".*session_closed/);
    for (const point of DECISION_POINTS) assert.ok(lines.includes(point));
    assert.match(refused(local("on: [session.spawned]")), /"audit".*did you mean "session_spawned"/);
    for (
      const on of ["[]", "work_item_start", "{a: 1}", "[7]", "[toString]", "[phase_changed, phase_changed]"]
    ) {
      assert.match(refused(local(`on: ${on}`)), /"audit"/, on);
    }
    assert.equal(accepted(local("on:")).hooks[0]?.on, null);
  });

  it("lists every unknown key, whatever its type", () => {
    const lines = refused(local("retries: 3\nzeal: 1\n3: x"));
    for (const key of ['"retries"', '"zeal"', "3"]) {
      assert.match(lines, new RegExp(`E_KEY_UNKNOWN hooks\\[0\\] "audit": unknown key ${key}`));
    }
    assert.match(refused(local("timeoutSecond: 3")), /did you mean "timeoutSeconds"/);
  });

  it("refuses a key of another executor, even without a value", () => {
    assert.match(
      refused(local("tokenEnv: T")),
      /E_EXECUTOR_KEY.*"audit".*"tokenEnv" belongs to a hook with url/,
    );
    for (const key of ["with", "executor", "isolate"]) {
      assert.match(refused(remote(`${key}:`)), new RegExp(`"audit".*"${key}" belongs`));
    }
    for (const key of ["headers", "signEnv", "breaker"]) {
      assert.match(refused(local(`${key}:`)), /belongs to a hook with url/);
    }
  });

  it("asks https, and http on this machine", () => {
    for (
      const url of [
        "https://h.example/x",
        "http://127.0.0.1:9/",
        "http://127.8.9.10",
        "http://localhost:9",
        "http://[::1]:9",
        "http://LOCALHOST/",
      ]
    ) {
      assert.equal(accepted(remote("tokenEnv: T", url)).hooks[0]?.executor.target, url);
    }
    for (
      const url of [
        "http://example.com/h",
        "http://localhost.evil.test",
        "http://127.0.0.1.evil.test",
        "http://127.0.0.1@evil.test/",
        "http://[::ffff:8.8.8.8]/",
        "ftp://h/x",
        "https://",
        "https:h",
        "nonsense",
        "https://user:secret@h.example/",
        "https://secret@h.example/",
        "file:///etc/passwd",
      ]
    ) {
      for (const rest of ["tokenEnv: T", ""]) {
        const lines = refused(remote(rest, url));
        assert.match(lines, /E_EXECUTOR_URL hooks\[0\] "audit".url/, url);
        assert.doesNotMatch(lines, /secret/);
      }
    }
  });

  it("takes headers of text, Authorization excepted in any letter case", () => {
    for (const name of ["Authorization", "authorization", "AUTHORIZATION"]) {
      assert.match(
        refused(remote(`headers: {${name}: x}`)),
        /E_EXECUTOR_HEADER hooks\[0\] "audit".*Authorization/,
      );
    }
    for (const headers of ["{X-N: 5}", "[a]", '{"X N": a}', '{X-N: "a\\nb"}', "{Host: x}", "{X-N: null}"]) {
      assert.match(refused(remote(`headers: ${headers}`)), /"audit"/, headers);
    }
    const { executor } = accepted(remote("headers: {X-N: v}")).hooks[0] ?? {};
    assert.deepEqual((executor as RemoteTarget).headers, { "X-N": "v" });
  });

  it("takes a timeout that is a finite number above 0, 10 seconds where none is given", () => {
    for (const value of ["0", "-1", '"5"', "true", "null", ".inf", ".nan", "-.inf", "", "1e999"]) {
      assert.match(refused(remote(`timeoutSeconds: ${value}`)), /"audit"/, value);
      assert.match(refused(local(`timeoutSeconds: ${value}`)), /"audit"/, value);
    }
    assert.equal(accepted(remote("timeoutSeconds: 0.5")).hooks[0]?.timeoutMs, 500);
    assert.equal(accepted(remote("required: true")).hooks[0]?.timeoutMs, 10_000);
  });

  it("takes names of variables only", () => {
    for (const value of ['""', "A-B", "null", "7"]) {
      assert.match(refused(remote(`tokenEnv: ${value}`)), /"audit".*tokenEnv/);
      assert.match(refused(remote(`signEnv: ${value}`)), /"audit".*signEnv/);
    }
  });

  it("takes true and false only for flags", () => {
    for (
      const line of ['required: "true"', "required:", "required: yes", "enabled: 1", "enabled:", "isolate: 1"]
    ) {
      assert.match(refused(local(line)), /"audit"/, line);
    }
  });

  it("takes a mapping for `with`, an identifier for `executor`", () => {
    assert.match(refused(local("with: [1]")), /"audit".*with/);
    for (const name of ['"a b"', "1a", '""', "a.b"]) {
      assert.match(refused(local(`executor: ${name}`)), /executor/);
    }
    accepted(local("with:\nexecutor:\nmatch:\non:"));
  });

  it("judges an entry that is disabled as every other", () => {
    assert.match(refused(local("enabled: false\nretries: 1")), /unknown key "retries"/);
  });

  it("names files beside itself, of the home folder, or absolute, and no others than modules", () => {
    const target = (path: string) =>
      accepted(`hooks: [{name: a, path: "${path}"}]`).hooks[0]?.executor.target;
    assert.equal(target("sub/a.mjs"), "/etc/reyn/sub/a.mjs");
    assert.equal(target("~/a.js"), "/home/op/a.js");
    assert.equal(target("/srv/a.mts"), "/srv/a.mts");
    for (const path of ["a.py", "a", "a.wasm", "a.json"]) {
      assert.match(refused(`hooks: [{name: a, path: ${path}}]`), /E_EXECUTOR_KIND/);
    }
    for (const name of ["./a", "/a", "../a", "a/../b", "npm:x", "https://x/y", "a b", "@x"]) {
      assert.match(refused(`hooks: [{name: a, module: "${name}"}]`), /E_EXECUTOR_KIND.*package/, name);
    }
    for (const name of ["pkg", "@scope/pkg", "pkg/sub.js", "pkg.mod"]) {
      accepted(`hooks: [{name: a, module: "${name}"}]`);
    }
  });

  it("takes a plugin by its file and export, and its config from `with`", () => {
    const { hooks: [plain, named] } = accepted(
      "hooks: [{name: a, wasm: p.wasm}, {name: b, wasm: 'p.wasm#judge', with: {root: /w, deep: {n: 1}}}]",
    );
    assert.deepEqual(plain?.executor, { kind: "wasm", target: "/etc/reyn/p.wasm", export: "run", with: {} });
    assert.deepEqual(named?.executor, {
      kind: "wasm",
      target: "/etc/reyn/p.wasm",
      export: "judge",
      with: { root: "/w", deep: { n: 1 } },
    });
    assert.match(refused("hooks: [{name: a, wasm: p.js}]"), /E_EXECUTOR_KIND hooks\[0\] "a".*no plugin/);
    assert.match(refused("hooks: [{name: a, wasm: 'p.wasm#'}]"), /E_EXECUTOR_KIND/);
    assert.match(refused("hooks: [{name: a, wasm: p.wasm, isolate: true}]"), /E_EXECUTOR_KEY.*isolate/);
    assert.match(
      refused("hooks: [{name: a, wasm: p.wasm, with: {reyn.hook: x}}]"),
      /E_EXECUTOR_KEY.*reyn\.hook/,
    );
    assert.match(
      refused("hooks: [{name: a, wasm: p.wasm, on: [session_spawn], match: {actor: a}}]"),
      /no actor/,
    );
  });

  it("refuses keys of the delivery loop by name, others as unknown", () => {
    assert.match(
      refused("routing: {}\nhooks: []"),
      /E_KEY_NOT_YET routing|E_KEY_NOT_YET.*`routing` is part of delivery/,
    );
    assert.match(refused("hoks: []"), /E_KEY_UNKNOWN.*did you mean "hooks"/);
  });

  it("bounds the whole chain where asked", () => {
    assert.equal(accepted("chainTimeoutSeconds: 2.5").chainTimeoutMs, 2500);
    for (const value of ["0", "-1", '"5"', ".inf", "true"]) {
      assert.match(refused(`chainTimeoutSeconds: ${value}`), /chainTimeoutSeconds/);
    }
  });

  it("takes a breaker", () => {
    const { executor } = accepted(remote("breaker: {after: 3, probe: 1.5}")).hooks[0] ?? {};
    assert.deepEqual((executor as RemoteTarget).breaker, { after: 3, probeMs: 1500 });
    for (const value of ["{after: 0}", "{after: 1.5}", "{probe: 0}", "{zeal: 1}", "3"]) {
      assert.match(refused(remote(`breaker: ${value}`)), /"audit"/, value);
    }
  });

  it("tells everything that is wrong at once, in order, never an internal fault", () => {
    const lines = refused("hooks:\n  - {name: Bad, path: a.py}\n  - 7\n  - {name: b, url: nonsense}\n").split(
      "\n",
    );
    assert.deepEqual(
      lines.map((line) => line.split(":")[1]),
      ["2", "2", "3", "4"],
    );
    for (
      const text of [
        "hooks: [",

        "- a",
        "hooks: &a [*a]",
        "__proto__: 1",
        "hooks: [{__proto__: {name: a}}]",
      ]
    ) {
      assert.ok(refused(text).length > 0, text);
    }
  });
});

describe("match:", () => {
  const matches = (match: string, on: string) => accepted(local(`on: [${on}]\nmatch: ${match}`));

  it("takes fields that every point of `on` carries", () => {
    matches("{repository: acme/*, actor: alice}", "work_item_start, input_received");
    matches("{kind: command}", "input_received");
    matches("{kind: issue}", "work_item_start");
  });

  it("refuses a field that one of the points does not carry", () => {
    const refusedMatch = (match: string, on: string) => refused(local(`on: [${on}]\nmatch: ${match}`));
    assert.match(
      refusedMatch("{actor: a}", "work_item_start, session_spawn"),
      /E_HOOK_MATCHER.*"audit".*session_spawn carries no actor/,
    );
    assert.match(refusedMatch("{loop: a}", "session_spawned"), /carries no loop/);
    assert.match(refusedMatch("{harness: a}", "phase_changed"), /carries no harness/);
    assert.match(refusedMatch("{kind: command}", "session_spawn"), /never matches at session_spawn/);
    assert.match(refusedMatch("{kind: 7}", "input_received"), /must be text/);
    assert.match(refusedMatch("{label: x}", "input_received"), /unknown key "label"/);
    assert.match(refused(remote("match: {actor: a}")), /carries no actor/);
  });
});
