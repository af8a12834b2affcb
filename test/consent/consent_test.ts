import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, beforeEach, describe, it } from "node:test";
import { type AskConsent, decideConsent } from "../../src/consent/consent.ts";
import { type ConsentAnswer, type ConsentQuestion, questionText } from "../../src/consent/question.ts";
import { allowlistAt, keysOf, request } from "./support.ts";

describe("decideConsent()", () => {
  let root = "";
  let cwd = "";
  let file = "";
  let script = "";
  let asked: ConsentQuestion[] = [];
  const keys = keysOf();
  before(() => {
    root = mkdtempSync(path.join(tmpdir(), "reyn-consent-"));
  });
  after(() => rmSync(root, { recursive: true }));
  beforeEach(() => {
    cwd = mkdtempSync(path.join(root, "project-"));
    file = path.join(cwd, "home/allowlist.json");
    script = path.join(cwd, "hook.sh");
    writeFileSync(script, "one");
    asked = [];
  });

  const answering = (answer: ConsentAnswer | null): AskConsent => async (question) => {
    asked.push(question);
    return answer;
  };
  /** A new process each time: nothing but the file is shared. */
  const decide = (
    more: { ask?: AskConsent; accept?: string; hookName?: string | null; path?: string } = {},
  ) =>
    decideConsent({
      key: () => keys.compute(request(cwd, [script, "a b"])),
      hookName: more.hookName === undefined ? "lint" : more.hookName,
      hookLabel: more.hookName ?? "startup#0",
      allowlist: allowlistAt(more.path ?? file),
      env: { REYN_ACCEPT_HOOKS: more.accept },
      ...(more.ask ? { ask: more.ask } : {}),
    });
  const by = async (...args: Parameters<typeof decide>) => {
    const decision = await decide(...args);
    return decision.allowed ? decision.by : decision.reason;
  };

  it("refuses at once where nobody is there to ask, and says what would help", async () => {
    assert.deepEqual(await decide({ hookName: "lint" }), {
      allowed: false,
      why: "not_approved",
      reason: `it is not approved, and nobody is there to ask (allowlist: ${file})`,
      fix: "approve it with `reyn hooks allow lint`, or set REYN_ACCEPT_HOOKS=1 for one process",
    });
    assert.equal(existsSync(file), false);
  });

  for (const accept of ["1", " 1 ", "\t1\n"]) {
    it(`lets REYN_ACCEPT_HOOKS=${JSON.stringify(accept)} run it, asks nobody and stores nothing`, async () => {
      assert.equal(await by({ accept, ask: answering("n") }), "environment");
      assert.deepEqual(asked, []);
      assert.equal(existsSync(file), false);
      assert.match(await by(), /^it is not approved/);
    });
  }

  for (const accept of ["true", "yes", "0", "", "11", "1 1"]) {
    it(`lets REYN_ACCEPT_HOOKS=${JSON.stringify(accept)} change nothing`, async () => {
      assert.match(await by({ accept }), /^it is not approved/);
    });
  }

  it("runs and stores on always: the next run is silent", async () => {
    assert.equal(await by({ ask: answering("A") }), "always");
    assert.equal(asked.length, 1);
    assert.equal(await by({ ask: answering("n") }), "allowlist");
    assert.equal(await by(), "allowlist");
    assert.equal(asked.length, 1);
  });

  it("runs once on yes: nothing is stored and the next run asks again", async () => {
    assert.equal(await by({ ask: answering("y") }), "once");
    assert.equal(existsSync(file), false);
    assert.equal(await by({ ask: answering("y") }), "once");
    assert.equal(asked.length, 2);
    assert.match(await by(), /^it is not approved/);
  });

  it("does not run on no, no answer, an answer that is none, or a question that fails", async () => {
    assert.equal(await by({ ask: answering("n") }), "the answer was no");
    assert.equal(await by({ ask: answering(null) }), "there was no answer");
    for (const odd of ["", "Y", "a", "always", "yes", " y"]) {
      assert.equal(await by({ ask: answering(odd as ConsentAnswer) }), "there was no answer");
    }
    assert.equal(
      await by({ ask: () => Promise.reject(new Error("gone")) }),
      "the question could not be put: gone",
    );
    assert.equal(existsSync(file), false);
  });

  it("refuses an approved script whose content changed, and says so", async () => {
    await decide({ ask: answering("A") });
    writeFileSync(script, "two");
    assert.equal(
      await by(),
      `it changed since it was approved: content of "${script}" changed (allowlist: ${file})`,
    );
    await by({ ask: answering("A") });
    assert.deepEqual(asked[1]?.changes, [`content of "${script}" changed`]);
    assert.equal(await by(), "allowlist");
  });

  it("does not carry an approval over to the same words in another project", async () => {
    await decide({ ask: answering("A") });
    const approvals = file;
    cwd = mkdtempSync(path.join(root, "project-"));
    script = path.join(cwd, "hook.sh");
    writeFileSync(script, "one");
    assert.match(await by({ path: approvals }), /^it is not approved/);
  });

  it("does not run what changed while the question was open", async () => {
    for (const answer of ["A", "y"] as const) {
      writeFileSync(script, "one");
      const reason = await by({
        ask: async () => {
          writeFileSync(script, "two");
          return answer;
        },
      });
      assert.equal(reason, `it changed while the question was open: content of "${script}" changed`);
    }
    assert.equal(existsSync(file), false);
  });

  it("runs this once when always could not be stored, and says that", async () => {
    const decision = await decide({ ask: answering("A"), path: "/proc/self/nowhere/allowlist.json" });
    assert.ok(decision.allowed && decision.by === "always");
    assert.match(
      decision.notStored ?? "",
      /^the approval was not stored and counts for this run only: \/proc\/self\/nowhere/,
    );
  });

  it("says why the allowlist could not help", async () => {
    await decide({ ask: answering("A") });
    writeFileSync(file, "garbage");
    assert.match(await by(), /^it is not approved.*; the allowlist .* was damaged \(it is not JSON\)/);
  });

  it("refuses what consent cannot be bound to, without asking, whatever the environment accepts", async () => {
    const decision = await decideConsent({
      key: () => keysOf({ maxFileBytes: 1 }).compute(request(cwd, [script])),
      hookName: "lint",
      allowlist: allowlistAt(file),
      env: { REYN_ACCEPT_HOOKS: "1" },
      ask: answering("A"),
    });
    assert.match(decision.allowed ? "" : decision.reason, /larger than 1 bytes/);
    assert.deepEqual(asked, []);
  });

  it("asks with the hook's name, the exact command and all that it is given", async () => {
    const more = {
      grants: { subprocess: true, network: true, writePaths: ["/srv/out dir"] },
      envNames: ["TOKEN"],
    };
    await decideConsent({
      key: () => keys.compute(request(cwd, [script, "a b", "\u202e\x1b[2J"], more)),
      hookName: "lint\u202e",
      allowlist: allowlistAt(file),
      env: {},
      ask: answering("n"),
    });
    const [question] = asked;
    assert.ok(question);
    assert.equal(
      questionText(question),
      [
        "Shell hook lint\\u{202e} wants to run a command",
        `  ${script} 'a b' $'\\u{202e}\\u{1b}[2J'`,
        `  in: ${cwd}`,
        "  may: start processes; use the network; write '/srv/out dir'",
        "  gets the variables: TOKEN",
        "  confined by: landlock",
        `  bound to the content of: ${script}`,
      ].join("\n"),
    );
    assert.deepEqual(question.choices.map(({ answer }) => answer), ["A", "y", "n"]);
  });

  it("asks for a hook without a name in general words, and says when it may nothing", async () => {
    await decide({ hookName: null, ask: answering("n") });
    assert.equal(asked[0]?.title, "A shell hook wants to run a command");
    assert.match(asked[0]?.details[1] ?? "", /^may: nothing beyond the floor/);
    assert.match((await decide({ hookName: null }) as { fix?: string }).fix ?? "", /allow 'startup#0'`/);
  });
});
