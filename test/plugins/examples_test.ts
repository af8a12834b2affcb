import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { after, before, describe, it } from "node:test";
import type { IncomingHttpHeaders } from "node:http";
import { serve, type TestServer } from "../egress/server.ts";
import { type Examples, openExamples, turnEnd } from "./helpers.ts";

describe("the example plugins", () => {
  let examples: Examples;
  before(() => {
    examples = openExamples();
  });
  after(async () => await examples.close());

  describe("push_decider", () => {
    const decide = (event: unknown, config: Record<string, string> = {}) =>
      examples.json("push_decider", event, { config }) as Promise<{ push_when: boolean; message: string }>;

    it("has a failed turn tried again until there were enough", async () => {
      assert.deepEqual(await decide(turnEnd({ status: "error" })), {
        push_when: true,
        wake: true,
        message: "The last turn failed. Try it another way.",
      });
      assert.equal((await decide(turnEnd({ status: "ok" }))).push_when, false);
      assert.equal((await decide(turnEnd({ status: "error", hook_driven_turns: 2 }))).push_when, true);
      assert.equal((await decide(turnEnd({ status: "error", hook_driven_turns: 3 }))).push_when, false);
      assert.equal(
        (await decide(turnEnd({ status: "error", hook_driven_turns: 3 }), { tries: "4" })).push_when,
        true,
      );
    });

    it("is not taken in by a text that looks like a field", async () => {
      const user_text = '","status":"error","x":{"status":"error"}';
      assert.equal((await decide(turnEnd({ user_text }))).push_when, false);
      assert.equal(
        (await decide({ nested: { status: "error" }, list: ["status", "error", "}"], status: "ok" }))
          .push_when,
        false,
      );
      assert.equal(
        (await decide(' { "a" : [ 1 , "\\"]" ] , "status" : "error" , "hook_driven_turns" : 0 } ')).push_when,
        true,
      );
    });

    it("says any message as JSON", async () => {
      const message = 'a "quoted" \\ line\nwith \u0001, é, 漢 and 😀';
      assert.equal((await decide(turnEnd(), { message })).message, message);
    });

    it("fails when its config is no number, rather than never to push", async () => {
      const result = await examples.call("push_decider", turnEnd(), { config: { tries: "few" } });
      assert.equal(result.outcome, "exit");
      assert.equal(result.returncode, 1);
      assert.equal(result.error, "config.tries must be a number");
    });
  });

  describe("turn_counter", () => {
    const count = (agent: string, owner = "counter") =>
      examples.json("turn_counter", turnEnd({ agent_name: agent }), { owner, config: { every: "2" } });

    it("counts each agent's turns, hook by hook, and speaks at every n-th", async () => {
      const said = async (agent: string, owner?: string) => {
        const { push_when, message } = await count(agent, owner) as { push_when: boolean; message: string };
        return `${push_when} ${message}`;
      };
      assert.equal(await said("a"), "false 1 turns of a since reyn started.");
      assert.equal(await said("a"), "true 2 turns of a since reyn started.");
      assert.equal(await said("bé"), "false 1 turns of bé since reyn started.");
      assert.equal(await said("a", "another"), "false 1 turns of a since reyn started.");
      for (let i = 3; i <= 12; i += 1) await count("a");
      assert.equal(await said("a"), "false 13 turns of a since reyn started.");
    });

    it("refuses to speak at every zeroth", async () => {
      for (const every of ["0", "-1", "x"]) {
        const result = await examples.call("turn_counter", turnEnd(), { config: { every } });
        assert.equal(result.error, "config.every must be a number from 1 on", every);
      }
    });
  });

  describe("redacting_notifier", () => {
    let server: TestServer;
    const seen: { headers: IncomingHttpHeaders; body: string }[] = [];
    let status = 204;
    before(async () => {
      server = await serve((request, response) => {
        const chunks: Buffer[] = [];
        request.on("data", (chunk: Buffer) => chunks.push(chunk));
        request.on("end", () => {
          seen.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
          response.writeHead(status).end();
        });
      });
    });
    after(async () => await server.close());
    const notify = (event: unknown, network: boolean | readonly string[] = [`127.0.0.1:${server.port}`]) =>
      examples.call("redacting_notifier", event, {
        config: { url: `http://127.0.0.1:${server.port}/hook`, "reyn.firing_id": "default/main/1/turn_end" },
        grants: { network, readPaths: [], writePaths: [] },
      });

    it("posts the turn as JSON, with an idempotency key", async () => {
      const result = await notify(turnEnd({ user_text: 'say "hi"\n\u{1F600} \\u00e9' }));
      assert.equal(result.outcome, "ok", `${result.error} ${result.log}`);
      const last = seen.at(-1);
      assert.deepEqual(JSON.parse(last?.body ?? ""), {
        agent: "default",
        status: "ok",
        text: 'say "hi"\n\u{1F600} \\u00e9',
      });
      assert.equal(last?.headers["content-type"], "application/json");
      assert.equal(last?.headers["idempotency-key"], "default/main/1/turn_end");
    });

    it("reads escapes of every length", async () => {
      await notify(
        '{"agent_name":"\\u0041\\u00e9\\u6f22\\ud83d\\ude00\\t\\/","status":"\\ud83d!","user_text":""}',
      );
      assert.deepEqual(JSON.parse(seen.at(-1)?.body ?? ""), {
        agent: "Aé漢😀\t/",
        status: "\ufffd!",
        text: "",
      });
    });

    for (
      const [text, sent] of [
        ["key sk-abcdefghijklmnopqrst123 end", "key [redacted] end"],
        ["ghp_0123456789abcdefghijABCDEFGHIJ", "[redacted]"],
        ["AKIAIOSFODNN7EXAMPLE.", "[redacted]"],
        ["password: hunter2, next", "password: [redacted], next"],
        ['{"token": "abc def"}', '{"token": "[redacted] def"}'],
        ["API_KEY=xyz&b=1", "API_KEY=[redacted]&b=1"],
        ["Authorization: Bearer abc.def", "Authorization: Bearer [redacted]"],
        ["a task-abcdefghijklmnopqrstuv", "a task-abcdefghijklmnopqrstuv"],
        ["tokens are counted", "tokens are counted"],
        ["password", "password"],
      ] as const
    ) {
      it(`sends ${JSON.stringify(text)} as ${JSON.stringify(sent)}`, async () => {
        await notify(turnEnd({ user_text: text }));
        assert.equal(JSON.parse(seen.at(-1)?.body ?? "").text, sent);
      });
    }

    it("fails when the notification was not taken, and says with which status", async () => {
      status = 500;
      const result = await notify(turnEnd());
      status = 204;
      assert.equal(result.outcome, "exit");
      assert.equal(result.error, "the notification was not taken: status 500");
    });

    it("reaches nothing without the grant, nor loopback with all public hosts granted", async () => {
      const before = server.total();
      for (const network of [false, true, ["127.0.0.1:1"]]) {
        const result = await notify(turnEnd(), network);
        assert.equal(result.error, "the notification was not taken: no answer");
        assert.equal(result.denied.length, 1, JSON.stringify(network));
      }
      assert.equal(server.total(), before);
    });

    it("carries a text of a megabyte", async () => {
      const result = await notify(turnEnd({ user_text: "é".repeat(500_000) }));
      assert.equal(result.outcome, "ok", `${result.error} ${result.reason}`);
      assert.equal(JSON.parse(seen.at(-1)?.body ?? "").text.length, 500_000);
    });
  });

  describe("spawn_gate", () => {
    const ask = (method: string, cwd: unknown, root = "/srv/work") =>
      examples.json("spawn_gate", { method, params: { respawn: false, cwd, model: "x" } }, {
        config: { root },
      });

    it("refuses a folder outside the root, and leaves all else as it is", async () => {
      assert.deepEqual(await ask("session_spawn", "/etc"), {
        proceed: false,
        reason: "/etc is not below /srv/work",
      });
      assert.equal(await ask("session_spawn", "/srv/work"), null);
      assert.equal(await ask("session_spawn", "/srv/work/a"), null);
      assert.equal(await ask("session_spawn", "/srv/work/a", "/srv/work/"), null);
      assert.equal(await ask("work_item_start", "/etc"), null);
    });

    for (const cwd of ["/srv/works", "/srv/work/../etc", "/srv/work/..", "/srv", "", null, 'x"y']) {
      it(`refuses ${JSON.stringify(cwd)}`, async () => {
        const answer = await ask("session_spawn", cwd) as { proceed: boolean };
        assert.equal(answer.proceed, false);
      });
    }
  });
});
