import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { loadConfiguration } from "../../src/config/load_layers.ts";
import { formatFinding } from "../../src/errors/finding.ts";
import { mutator } from "./mutate.ts";
import { findingsOf, scratch } from "./scratch.ts";
import { disabled, driver, hooks, safety, SECTIONS } from "./sections.ts";

const OPERATOR = "~/.reyn/config.yaml";
const LOCAL = "reyn.local.yaml";
const RUNTIME = ".reyn/config/hooks.yaml";
const AGENT = ".reyn/agents/reviewer/hooks.yaml";
const SESSION = ".reyn/agents/reviewer/state/sessions/s1/hooks.yaml";

const own = { sections: SECTIONS, agent: "reviewer", session: "s1" };

function findings(files: Record<string, string>, env: Record<string, string> = {}): string[] {
  return findingsOf(files, { ...own, env });
}

describe("a configuration", () => {
  it("is all defaults when there is no file", () => {
    const place = scratch();
    const { findings, usable, values, layers } = place.load({ sections: SECTIONS });
    assert.deepEqual(findings, []);
    assert.ok(usable);
    const { loop, on_limit, grace } = values.get(safety);
    assert.deepEqual([loop, on_limit, grace], [{ limit: 25 }, "warn", 10_000]);
    assert.equal(values.get(driver), undefined);
    assert.deepEqual(values.list(hooks), []);
    assert.ok(layers.every(({ state }) => state === "absent"));
    place.remove();
  });

  it("takes a key without a value as absent", () => {
    const place = scratch({ "reyn.yaml": "safety:\nhooks:\n" });
    const { usable, values } = place.load({ sections: SECTIONS });
    assert.ok(usable);
    assert.equal(values.get(safety).on_limit, "warn");
    assert.deepEqual(values.list(hooks), []);
    place.remove();
  });

  it("lays reyn.local.yaml over reyn.yaml over the operator's", () => {
    const place = scratch({
      [OPERATOR]: "safety: { loop: { limit: 40 }, on_limit: abort, words: [a, b], grace: 1 }\n",
      "reyn.yaml": "safety: { on_limit: ask_user, words: [c], grace: 2m }\n",
      [LOCAL]: "safety: { grace: 3 }\n",
    });
    const { findings, values } = place.load({ sections: SECTIONS });
    assert.deepEqual(findings, []);
    const { loop, on_limit, words, grace } = values.get(safety);
    assert.deepEqual([loop, on_limit, words, grace], [{ limit: 40 }, "ask_user", ["c"], 3000]);
    place.remove();
  });

  it("hashes what it read", () => {
    const place = scratch({ "reyn.yaml": "hooks: []\n" });
    const { layers } = place.load({ sections: SECTIONS });
    const base = layers.find(({ shown }) => shown === "reyn.yaml");
    assert.equal(base?.state, "used");
    assert.match(base?.sha256?.() ?? "", /^[0-9a-f]{64}$/);
    place.remove();
  });

  it("needs a control folder", () => {
    const place = scratch({ file: "x" });
    const load = (controlDir: string) => {
      const { findings, usable } = loadConfiguration({
        controlDir,
        home: place.home,
        env: {},
        sections: SECTIONS,
      });
      assert.equal(usable, false);
      return findings.map(formatFinding);
    };
    assert.deepEqual(load("/no/such"), ["E_CONTROL_DIR /no/such does not exist or cannot be entered"]);
    const file = join(place.controlDir, "file");
    assert.deepEqual(load(file), [`E_CONTROL_DIR ${file} is not a folder`]);
    place.remove();
  });
});

describe("findings", () => {
  it("come all at once, in the order of files and lines, at their places", () => {
    assert.deepEqual(
      findings({
        [OPERATOR]: "safety:\n  on_limit: never\n",
        "reyn.yaml": `safety:
  profile: x
  strict: yes
  extra: 1
modle: {}
server: {}
disabled: []
hooks:
  - onn: turn_end
  - on: ""
    matcher: [a]
  - { on: a, push: { message: m, wak: 1 } }
`,
        [LOCAL]: "safety: { grace: soon }\n",
      }),
      [
        '~/.reyn/config.yaml:2:13 E_CONFIG_TYPE safety.on_limit: must be one of "warn", "ask_user", "abort", got "never"',
        "reyn.yaml:2:3 E_KEY_NOT_YET safety.profile: `profile` is part of permissions, which this version of reyn does not have yet",
        'reyn.yaml:3:11 E_CONFIG_TYPE safety.strict: must be true or false, got "yes" (write `true`)',
        'reyn.yaml:4:3 E_KEY_UNKNOWN safety: unknown key "extra"; allowed: loop, on_limit, grace, cap, strict, words',
        'reyn.yaml:5:1 E_KEY_UNKNOWN unknown key "modle"; allowed: safety, driver, hooks',
        "reyn.yaml:6:1 E_KEY_NOT_YET `server` is part of the HTTP server, which this version of reyn does not have yet",
        'reyn.yaml:7:1 E_KEY_LAYER "disabled" belongs to a session (only a session\'s own hooks.yaml may hold it)',
        'reyn.yaml:9:5 E_CONFIG_MISSING hooks[0]: missing key "on"',
        'reyn.yaml:9:5 E_KEY_UNKNOWN hooks[0]: unknown key "onn" (did you mean "on"?); allowed: on, name, matcher, exec, push',
        "reyn.yaml:10:9 E_CONFIG_TYPE hooks[1].on: must not be blank",
        "reyn.yaml:11:14 E_CONFIG_TYPE hooks[1].matcher: must be a mapping, got a list",
        'reyn.yaml:12:34 E_KEY_UNKNOWN hooks[2].push: unknown key "wak" (did you mean "wake"?); allowed: message, wake',
        'reyn.local.yaml:1:18 E_CONFIG_TYPE safety.grace: must be a duration (seconds as a number, or <N>ms, <N>s, <N>m, <N>h), got "soon"',
      ],
    );
  });

  it("tell of a wrong value that another file hides", () => {
    assert.deepEqual(
      findings({ "reyn.yaml": "safety: { on_limit: never }\n", [LOCAL]: "safety: { on_limit: abort }\n" }),
      ['reyn.yaml:1:21 E_CONFIG_TYPE safety.on_limit: must be one of "warn", "ask_user", "abort", got "never"'],
    );
  });

  it("do not ask of each file what only all together must have", () => {
    const files = { [OPERATOR]: "driver: { kind: script }\n", [LOCAL]: "driver: { file: a.yaml }\n" };
    assert.deepEqual(findings(files), []);
    assert.deepEqual(findings({ [OPERATOR]: "driver: { kind: script }\n" }), [
      '~/.reyn/config.yaml:1:9 E_CONFIG_MISSING driver: missing key "file"',
    ]);
  });

  it("of a section's own check stand in the file that wrote the value", () => {
    const files = { "reyn.yaml": "driver: { file: a.txt }\n", [LOCAL]: "driver: { kind: script }\n" };
    assert.deepEqual(findings(files), [
      "reyn.yaml:1:17 E_CONFIG_TYPE driver.file: must be a .yaml file (rename it)",
    ]);
  });

  it("of one bad entry do not hide those of the others", () => {
    assert.deepEqual(
      findings({ "reyn.yaml": "hooks:\n  - { on: a, name: x }\n  - { on: 5 }\n  - { on: b, name: x }\n" }),
      [
        "reyn.yaml:3:11 E_CONFIG_TYPE hooks[1].on: must be text, got 5",
        'reyn.yaml:4:20 E_HOOK_NAME hooks[2].name: the name "x" is taken',
      ],
    );
  });

  it("name the number that could not be read only once", () => {
    assert.deepEqual(findings({ "reyn.yaml": "safety: { grace: .inf }\n" }), [
      "reyn.yaml:1:18 E_CONFIG_TYPE safety.grace: must be a finite number, got .inf",
    ]);
  });

  it("of hooks that are no list say so", () => {
    assert.deepEqual(findings({ "reyn.yaml": "hooks: { on: a }\n" }), [
      "reyn.yaml:1:8 E_CONFIG_TYPE hooks: must be a list, got a mapping",
    ]);
  });
});

describe("lists of hooks", () => {
  it("add up over the layers, in their order", () => {
    const place = scratch({
      [SESSION]: "hooks: [{ on: session }]\ndisabled: [x]\n",
      [AGENT]: "hooks: [{ on: agent }]\n",
      [RUNTIME]: "hooks: [{ on: runtime }]\n",
      "reyn.yaml": "hooks: [{ on: startup }]\n",
      [OPERATOR]: "hooks: [{ on: operator }]\n",
    });
    const { findings, values } = place.load(own);
    assert.deepEqual(findings, []);
    assert.deepEqual(
      values.list(hooks).map(({ layer, shown, value }) => [layer, shown, value[0]?.on]),
      [
        ["operator", OPERATOR, "operator"],
        ["startup", "reyn.yaml", "startup"],
        ["runtime", RUNTIME, "runtime"],
        ["agent", AGENT, "agent"],
        ["session", SESSION, "session"],
      ],
    );
    assert.deepEqual(values.list(disabled).map(({ value }) => value), [["x"]]);
    place.remove();
  });

  it("of reyn.local.yaml replace those of reyn.yaml, with a warning, and not the operator's", () => {
    const place = scratch({
      [OPERATOR]: "hooks: [{ on: operator }]\n",
      "reyn.yaml": "hooks: [{ on: a }, { on: b }]\n",
      [LOCAL]: "safety: {}\nhooks: [{ on: c }]\n",
    });
    const { findings, usable, values } = place.load({ sections: SECTIONS });
    assert.deepEqual(findings.map(formatFinding), [
      "reyn.local.yaml:2:1 W_LIST_REPLACED hooks: replaces the 2 entries of reyn.yaml by 1",
    ]);
    assert.ok(usable);
    assert.deepEqual(values.list(hooks).map(({ shown }) => shown), [OPERATOR, LOCAL]);
    place.remove();
  });

  it("of reyn.local.yaml may be empty, which leaves none; without a value they replace nothing", () => {
    const place = scratch({ "reyn.yaml": "hooks: [{ on: a }]\n", [LOCAL]: "hooks: []\n" });
    assert.deepEqual(place.load({ sections: SECTIONS }).values.list(hooks).map(({ value }) => value), [[]]);
    place.write(LOCAL, "hooks:\n");
    const { findings, values } = place.load({ sections: SECTIONS });
    assert.deepEqual(findings, []);
    assert.deepEqual(values.list(hooks).map(({ shown }) => shown), ["reyn.yaml"]);
    place.remove();
  });

  it("are judged whole although an entry holds keys that nothing knows", () => {
    const text =
      "hooks:\n  - { on: a, name: x }\n  - { on: b, name: x, nam: y, push: { message: m, wak: true } }\n";
    assert.deepEqual(findings({ "reyn.yaml": text }).map((line) => line.replace(/(;| \().*/, "")), [
      'reyn.yaml:3:20 E_HOOK_NAME hooks[1].name: the name "x" is taken',
      'reyn.yaml:3:23 E_KEY_UNKNOWN hooks[1]: unknown key "nam"',
      'reyn.yaml:3:51 E_KEY_UNKNOWN hooks[1].push: unknown key "wak"',
    ]);
  });

  it("can be reported on after loading, at their places", () => {
    const place = scratch({ [RUNTIME]: "hooks:\n  - on: composed:x\n" });
    const [runtime] = place.load({ sections: SECTIONS }).values.list(hooks);
    const finding = runtime?.finding([0, "on"], "E_HOOK_COMPOSED", "no composer emits this");
    assert.equal(
      finding && formatFinding(finding),
      `${RUNTIME}:2:9 E_HOOK_COMPOSED hooks[0].on: no composer emits this`,
    );
    place.remove();
  });
});

describe("a layer that cannot be used", () => {
  it("stops the start when it is the operator's or the startup layer", () => {
    for (const file of [OPERATOR, "reyn.yaml", LOCAL]) {
      const place = scratch({ [file]: "hooks: [{ on: 5 }]\n", [RUNTIME]: "hooks: [{ on: a }]\n" });
      const { usable, values, layers } = place.load({ sections: SECTIONS });
      assert.equal(usable, false, file);
      assert.equal(layers.find(({ shown }) => shown === file)?.state, "refused");
      assert.deepEqual(values.list(hooks).map(({ layer }) => layer), ["runtime"]);
      place.remove();
    }
  });

  it("is left out alone when it is another", () => {
    for (const text of ["hooks: [{ on: 5 }]\n", "hooks: [{ on: a }\n", "hooks: [{ on: a }]\nsafety: {}\n"]) {
      for (const file of [RUNTIME, AGENT, SESSION]) {
        const place = scratch({
          "reyn.yaml": "hooks: [{ on: a }]\n",
          [RUNTIME]: "hooks: [{ on: b }]\n",
          [AGENT]: "hooks: [{ on: c }]\n",
          [SESSION]: "hooks: [{ on: d }]\n",
          [file]: text,
        });
        const { findings, usable, values, layers } = place.load(own);
        assert.ok(usable);
        assert.equal(findings.length, 2);
        assert.match(
          findings.map(formatFinding)[1] ?? "",
          /W_LAYER_SKIPPED this file of the .* layer is left out: 1 error$/,
        );
        assert.equal(layers.find(({ shown }) => shown === file)?.state, "skipped");
        assert.deepEqual(
          values.list(hooks).map(({ shown }) => shown),
          ["reyn.yaml", RUNTIME, AGENT, SESSION].filter((shown) => shown !== file),
        );
        place.remove();
      }
    }
  });

  it("says which keys it may hold", () => {
    assert.deepEqual(findings({ [AGENT]: "safety: {}\ndisabled: [a]\n", [SESSION]: "server: {}\n" }), [
      `${AGENT}:1:1 E_KEY_LAYER "safety" may not be set in the agent layer, which holds hooks only (set it in reyn.yaml)`,
      `${AGENT}:2:1 E_KEY_LAYER "disabled" may not be set in the agent layer, which holds hooks only (only a session's own hooks.yaml may hold it)`,
      `${AGENT}:1:1 W_LAYER_SKIPPED this file of the agent layer is left out: 2 errors`,
      `${SESSION}:1:1 E_KEY_LAYER "server" may not be set in the session layer, which holds hooks and disabled only (set it in reyn.yaml)`,
      `${SESSION}:1:1 W_LAYER_SKIPPED this file of the session layer is left out: 1 error`,
    ]);
  });

  it("names a key that does not exist yet where it will be allowed", () => {
    assert.equal(
      findings({ [RUNTIME]: "composers: []\n" })[0],
      `${RUNTIME}:1:1 E_KEY_NOT_YET \`composers\` is part of event correlation, which this version of reyn does not have yet`,
    );
  });

  it("includes files of parts that do not exist yet", () => {
    assert.deepEqual(findings({ [RUNTIME]: "hooks: [{ on: a }]\n", ".reyn/config/cron.yaml": "x: 1" }), [
      ".reyn/config/cron.yaml:1:1 E_KEY_NOT_YET `cron.yaml` is part of cron, which this version of reyn does not have yet",
      ".reyn/config/cron.yaml:1:1 W_LAYER_SKIPPED this file of the runtime layer is left out: 1 error",
    ]);
  });

  it("includes files that cannot be read", () => {
    const place = scratch();
    mkdirSync(join(place.controlDir, RUNTIME), { recursive: true });
    mkdirSync(join(place.controlDir, "reyn.yaml"));
    const { findings, usable } = place.load({ sections: SECTIONS });
    assert.equal(usable, false);
    assert.deepEqual(findings.map(formatFinding), [
      "reyn.yaml:1:1 E_FILE_NOT_REGULAR is a folder, not a file",
      `${RUNTIME}:1:1 E_FILE_NOT_REGULAR is a folder, not a file`,
      `${RUNTIME}:1:1 W_LAYER_SKIPPED this file of the runtime layer is left out: 1 error`,
    ]);
    rmSync(join(place.controlDir, "reyn.yaml"), { recursive: true });
    writeFileSync(join(place.controlDir, "reyn.yaml"), new Uint8Array([0x61, 0xff]));
    assert.match(
      place.load({ sections: SECTIONS }).findings.map(formatFinding)[0] ?? "",
      /^reyn.yaml:1:1 E_FILE_ENCODING/,
    );
    place.remove();
  });

  it("is the session's own: main has the agent's state folder", () => {
    const place = scratch({ ".reyn/agents/default/state/hooks.yaml": "hooks: [{ on: a }]\n" });
    const { values } = place.load({ sections: SECTIONS, agent: "default", session: "main" });
    assert.deepEqual(values.list(hooks).map(({ layer }) => layer), ["session"]);
    assert.throws(() => place.load({ sections: SECTIONS, agent: "../x" }), /cannot name a folder/);
    place.remove();
  });
});

describe("a configuration of any bytes", () => {
  it("gives findings, not a fault", () => {
    const sample = `safety: { loop: { limit: 25 }, on_limit: warn, grace: 1.5m, words: [a, '\${A:-b}'] }
driver: { kind: script, file: ./a.yaml }
hooks:
  - { on: a, name: "n", matcher: { x: y }, exec: [a, b] }
  - on: b
    push: { message: m, wake: true }
`;
    const place = scratch();
    const mutate = mutator(4, sample);
    for (let run = 0; run < 300; run++) {
      const text = mutate();
      for (const file of ["reyn.yaml", RUNTIME]) place.write(file, text);
      const { findings, usable } = place.load(own);
      assert.equal(
        usable,
        !findings.some(({ place, severity }) => place?.file === "reyn.yaml" && severity === "error"),
      );
    }
    place.remove();
  });
});
