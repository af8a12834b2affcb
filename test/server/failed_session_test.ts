import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { startTestServer, type TestServer, until } from "./harness.ts";

const CONFIG = `
model: { provider: echo }
composers:
  - { name: late, op: deadline, on: turn_start, until: { on: session_end }, ttl: 2s }
hooks:
  - { name: late, on: composed:late, template_push: { message: late, wake: false } }
`;

async function eventsOf({ dir, hosting }: TestServer): Promise<string[]> {
  await hosting.audit.flush();
  const folder = join(dir, ".reyn", "events");
  return readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n"));
}

describe("a session that failed and was opened anew", () => {
  it("is let go of where it was opened and could not be made ready, and its deadline fires once", async () => {
    const server = await startTestServer(CONFIG.replace("on: turn_start", "on: session_start"));
    try {
      const { store } = server.hosting;
      const { questions } = store;
      let failures = 1;
      store.questions = (session) => {
        if (session === undefined || failures-- <= 0) return questions(session);
        return Promise.reject(new Error("a fault for the test"));
      };
      await server.send("hello");
      const pushed = async () => (await store.session("default/main"))?.passive === 1;
      await until(pushed, "the deadline has fired", 15);
      await new Promise((resolve) => setTimeout(resolve, 500));
      const events = await eventsOf(server);
      const count = (type: string) => events.filter((line) => line.includes(`"type":"${type}"`)).length;
      assert.equal(count("session_failed"), 1);
      assert.equal(count("composer_fired"), 1);
    } finally {
      await server.close();
    }
  });

  it("has one set of composers: what was armed before fires once, and is on disk until it does", async () => {
    let failures = 1;
    const server = await startTestServer(CONFIG, {}, () => {}, (label) => {
      if (label === "turn:before_step" && failures-- > 0) throw new Error("a fault for the test");
    });
    try {
      await server.send("hello");
      const { hosting } = server;
      const pushed = async () => (await hosting.store.session("default/main"))?.passive === 1;
      await until(pushed, "the deadline has fired", 15);
      await new Promise((resolve) => setTimeout(resolve, 500));
      const events = await eventsOf(server);
      const count = (type: string) => events.filter((line) => line.includes(`"type":"${type}"`)).length;
      assert.equal(count("session_failed"), 1);
      assert.equal(count("turn_settled"), 1);
      assert.equal(count("composer_fired"), 1);
    } finally {
      await server.close();
    }
  });
});
