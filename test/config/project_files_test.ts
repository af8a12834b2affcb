import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JudgeTrust } from "../../src/config/trust_claim.ts";
import { findingsOf, scratch } from "./scratch.ts";
import { driver, hooks, safety, SECTIONS } from "./sections.ts";

const OPERATOR = "~/.reyn/config.yaml";
const LOCAL = "reyn.local.yaml";
const RUNTIME = ".reyn/config/hooks.yaml";

function findings(files: Record<string, string>, env: Record<string, string> = {}): string[] {
  return findingsOf(files, { sections: SECTIONS, env });
}

describe("environment variables in files", () => {
  it("are put into the operator's file, but for argv and templates", () => {
    const place = scratch({
      [OPERATOR]:
        "safety: { words: ['${A}', '$$x', $5] }\nhooks:\n  - { on: a, name: '${A}', exec: ['${A}', $$], push: { message: '${B}' } }\n",
    });
    const { findings, values } = place.load({ sections: SECTIONS, env: { A: "val" } });
    assert.deepEqual(findings, []);
    assert.deepEqual(values.get(safety).words, ["val", "$x", "$5"]);
    assert.deepEqual(values.list(hooks)[0]?.value[0], {
      on: "a",
      name: "val",
      exec: ["${A}", "$$"],
      push: { message: "${B}" },
    });
    place.remove();
  });

  it("count as numbers and truth values where those are wanted", () => {
    const place = scratch({
      [OPERATOR]:
        "safety: { loop: { limit: '${N}' }, strict: '${T}', grace: '${G:-1.5}', words: ['${N}'] }\n",
    });
    const { findings, values } = place.load({ sections: SECTIONS, env: { N: "7", T: "true" } });
    assert.deepEqual(findings, []);
    const { loop, strict, grace, words } = values.get(safety);
    assert.deepEqual([loop.limit, strict, grace, words], [7, true, 1500, ["7"]]);
    place.remove();
  });

  it("are errors when unset or malformed, and then nothing else is said of the value", () => {
    assert.deepEqual(findings({ [OPERATOR]: "safety:\n  grace: ${NOPE}\n  on_limit: '${'\n" }), [
      "~/.reyn/config.yaml:2:10 E_ENV_UNSET safety.grace: the variable NOPE is not set (set it, or write ${NOPE:-default})",
      '~/.reyn/config.yaml:3:13 E_ENV_SYNTAX safety.on_limit: "${" is malformed (write ${NAME} or ${NAME:-default}, $$ for a plain $)',
    ]);
  });

  it("are plain text in the other layers", () => {
    const place = scratch({ [RUNTIME]: "hooks: [{ on: a, name: '${A} $$' }]\n" });
    assert.equal(place.load({ sections: SECTIONS }).values.list(hooks)[0]?.value[0]?.name, "${A} $$");
    place.remove();
  });
});

/** Trusts every claim whose key the function says yes to. */
const trusting = (which: (key: string) => boolean): JudgeTrust => (claim) =>
  which(claim.key) ? { state: "trusted" } : { state: "new" };

describe("a project file that is trusted", () => {
  const text = "driver: { kind: command, command: [x] }\nsafety: { grace: '${N}', words: ['${W}', $$] }\n";

  it("takes effect as the operator's own does, variables included", () => {
    const place = scratch({ "reyn.yaml": text });
    const { findings, values, usable } = place.load({
      sections: SECTIONS,
      env: { N: "9", W: "word" },
      judge: trusting(() => true),
    });
    assert.deepEqual([findings, usable], [[], true]);
    assert.equal(values.get(driver), "command");
    assert.deepEqual([values.get(safety).grace, values.get(safety).words], [9000, ["word", "$"]]);
    place.remove();
  });

  it("is told of a variable that is not set", () => {
    const found = findingsOf({ "reyn.yaml": text }, { sections: SECTIONS, judge: trusting(() => true) });
    assert.deepEqual(found.map((line) => line.split(": ")[0]), [
      "reyn.yaml:2:18 E_ENV_UNSET safety.grace",
      "reyn.yaml:2:34 E_ENV_UNSET safety.words[0]",
    ]);
  });

  it("in part is refused for the rest, and tells nothing of what the environment holds", () => {
    const place = scratch({ "reyn.yaml": "safety: { on_limit: '${N}', loop: { limit: 26 } }\n" });
    const { findings, claims } = place.load({
      sections: SECTIONS,
      env: { N: "secret" },
      judge: trusting((key) => key === "safety.on_limit"),
    });
    assert.deepEqual(findings.map(({ subject }) => subject), ["safety.loop.limit"]);
    assert.doesNotMatch(JSON.stringify(findings), /secret/);
    assert.deepEqual(claims.map(({ key, value, verdict }) => [key, value, verdict.state]), [
      ["safety.on_limit", "${N}", "trusted"],
      ["safety.loop.limit", 26, "new"],
    ]);
    place.remove();
  });

  it("needs trust once for a value that reads the environment and is of authority, too", () => {
    const place = scratch({ "reyn.yaml": "safety: { loop: { limit: '${N}' } }\n" });
    const { claims } = place.load({ sections: SECTIONS, env: { N: "99" } });
    assert.deepEqual(claims.map(({ key, value, reasons }) => [key, value, reasons]), [
      ["safety.loop.limit", "${N}", ["it reads the environment", "it is looser"]],
    ]);
    place.remove();
  });

  it("has no more to be trusted than a person reads", () => {
    const words = Array.from({ length: 501 }, () => "'${N}'").join(", ");
    const place = scratch({ "reyn.yaml": `safety: { words: [${words}] }\n` });
    const { usable, findings } = place.load({
      sections: SECTIONS,
      env: { N: "x" },
      judge: trusting(() => true),
    });
    assert.equal(usable, false);
    assert.match(findings[0]?.message ?? "", /more than 500 values of this file need trust/);
    place.remove();
  });
});

describe("a project file", () => {
  const untrusted = (place: string, subject: string, reason = "") =>
    `${place} E_PROJECT_UNTRUSTED ${subject}: needs your trust${reason} (\`reyn trust\` shows what it is and records it)`;

  it("may not set what needs trust, and the operator's may", () => {
    const text = "driver:\n  kind: command\n  command: [x]\nsafety:\n  loop: { limit: 26 }\n";
    assert.deepEqual(findings({ "reyn.yaml": text }), [
      untrusted("reyn.yaml:3:3", "driver.command"),
      untrusted("reyn.yaml:5:11", "safety.loop.limit", ": it is looser"),
    ]);
    assert.deepEqual(findings({ [LOCAL]: text }).length, 2);
    assert.deepEqual(findings({ [OPERATOR]: text }), []);
  });

  it("may go as far as the operator's own value", () => {
    const files = {
      [OPERATOR]: "safety: { loop: { limit: 50 } }\n",
      "reyn.yaml": "safety: { loop: { limit: 50 } }\n",
    };
    assert.deepEqual(findings(files), []);
    assert.equal(findings({ ...files, "reyn.yaml": "safety: { loop: { limit: 0 } }\n" }).length, 1);
  });

  it("may not read the environment, set or not", () => {
    for (const env of [{}, { N: "9" }]) {
      assert.deepEqual(
        findings({ "reyn.yaml": "safety: { grace: '${N}' }\nhooks: [{ on: 'a${N:-}' }]\n" }, env),
        [
          untrusted("reyn.yaml:1:18", "safety.grace", ": it reads the environment"),
          untrusted("reyn.yaml:2:15", "hooks[0].on", ": it reads the environment"),
        ],
      );
    }
    assert.deepEqual(findings({ "reyn.yaml": "safety: { words: [a$$b, $c] }\n" }), []);
  });

  it("may not name a path that leaves the control folder, and its section is not compiled then", () => {
    assert.deepEqual(findings({ "reyn.yaml": "driver: { kind: script, file: ../x.txt }\n" }), [
      untrusted("reyn.yaml:1:25", "driver.file", ": it leaves the control folder"),
    ]);
  });

  it("leaves the values of other sections alone", () => {
    const place = scratch({ "reyn.yaml": "driver: { kind: command, command: [x] }\nsafety: { grace: 5 }\n" });
    const { usable, values } = place.load({ sections: SECTIONS });
    assert.equal(usable, false);
    assert.equal(values.find(driver), undefined);
    assert.throws(() => values.get(driver), /E_INTERNAL|is not usable/);
    assert.equal(values.get(safety).grace, 5000);
    place.remove();
  });
});
