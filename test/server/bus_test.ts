import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, before, describe, it } from "node:test";
import { systemClock } from "../../src/clock/clock.ts";
import { randomIds } from "../../src/clock/ids.ts";
import { virtualClock } from "../../src/clock/virtual_clock.ts";
import { requireUsable } from "../../src/runtime/configuration.ts";
import { type Hosting, openHosting } from "../../src/runtime/serve.ts";
import { configurations } from "../../src/runtime/serve_configuration.ts";
import { until } from "./harness.ts";

const REF = { agent: "default", sid: "main" };
const CONFIG = `
model: { provider: echo }
composers:
  - { name: late, op: window, inputs: [{ kind: "http:local:a" }], emit: { kind: composed:late }, policy: { ttl: 400ms } }
  - { name: armed, op: deadline, on: "http:local:d", until: { on: "http:local:x" }, ttl: 400ms }
hooks: [{ on: composed:late, name: tell, template_push: { message: late, wake: false } }]
`;

describe("a session that was loaded for an event", () => {
  const base = mkdtempSync(join(tmpdir(), "reyn-bus-"));
  const home = process.env["HOME"];
  /** Of everything but the sessions themselves: when they are unloaded. */
  const ioClock = virtualClock();
  let hosting: Hosting;

  before(async () => {
    const dir = join(base, "control");
    mkdirSync(dir);
    writeFileSync(join(dir, "reyn.yaml"), CONFIG);
    process.env["HOME"] = base;
    const configs = configurations(dir);
    const configuration = configs.agent("default");
    requireUsable(configuration);
    hosting = await openHosting({
      controlDir: dir,
      configuration,
      configurations: configs,
      host: { clock: systemClock, ioClock, ids: randomIds(), fault: () => {} },
      hooks: true,
      talk: () => {},
      onFailure: () => {},
    });
  });
  after(async () => {
    await hosting.drain(1000);
    await hosting.close();
    if (home === undefined) delete process.env["HOME"];
    else process.env["HOME"] = home;
    rmSync(base, { recursive: true, force: true });
  });

  const send = (name: string, id: string) =>
    hosting.publish(REF, { kind: `http:local:${name}`, payload: {}, id, repeatable: false, by: "local" });

  for (const name of ["a", "d"]) {
    it(`stays loaded while a composer holds something of it (${name}), and goes then like any other`, async () => {
      assert.equal(await send(name, `e-${name}`), "heard");
      await ioClock.advance(11 * 60_000);
      assert.deepEqual(hosting.loaded(), ["default/main"]);
      const session = hosting.sessions.loaded("default/main")?.session;
      await until(() => session?.busy === false, "it is done");
      await ioClock.advance(11 * 60_000);
      await until(() => hosting.loaded().length === 0, "it is unloaded");
    });
  }

  it("is unloaded at once it has been idle for long where nothing was waiting for the event", async () => {
    assert.equal(await send("nothing", "e"), "unheard");
    assert.deepEqual(hosting.loaded(), ["default/main"]);
    await ioClock.advance(11 * 60_000);
    await until(() => hosting.loaded().length === 0, "it is unloaded");
  });
});
