import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "node:test";
import { handleRequest, LifecycleHooks, POINTS, type SessionSpawn } from "../../sdk.ts";

class Recorder extends LifecycleHooks {
  seen: unknown[] = [];
  override session_spawn(context: SessionSpawn) {
    this.seen.push(context);
    context.prompt += " and more";
    return context;
  }
  override phase_changed(): never {
    throw new Error("no");
  }
  override async input_received() {
    return await Promise.reject("not even an error");
  }
  override work_item_complete() {
    return { announce: "no" } as never;
  }
}

async function ask(body: unknown, hook: object = new Recorder()) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return JSON.parse(await handleRequest(hook, text)) as {
    id: unknown;
    result?: unknown;
    error?: { code: number; message: string };
  };
}
const call = (method: string, params: unknown = {}, id: unknown = 1) => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});

describe("handleRequest() of a body", () => {
  it("answers -32700 for what is not JSON, calling no hook", async () => {
    const hook = new Recorder();
    const whole = JSON.stringify(call("session_spawn"));
    for (const body of ["{", "", whole.slice(0, -1), whole.slice(0, 30)]) {
      const { id, error } = await ask(body, hook);
      assert.equal(error?.code, -32700);
      assert.equal(id, null);
    }
    assert.deepEqual(hook.seen, []);
  });

  it("answers -32600 for what is no request", async () => {
    const { jsonrpc: _, ...without } = call("session_spawn");
    const bodies = [
      [call("session_spawn")],
      call("session_spawn", []),
      call("session_spawn", null),
      7,
      "null",
      without,
    ];
    for (const body of bodies) assert.equal((await ask(body)).error?.code, -32600, JSON.stringify(body));
    assert.equal((await ask({ ...call("session_spawn"), jsonrpc: "1.0" })).error?.code, -32600);
  });

  it("answers -32601 for what is no point, names of the prototype included", async () => {
    for (const method of ["nope", "toString", "__proto__", "constructor", "handles", "valueOf"]) {
      assert.equal((await ask(call(method))).error?.code, -32601, method);
    }
  });

  it("answers -32602 for a known field of the wrong type", async () => {
    const { error } = await ask(call("session_spawn", { respawn: 1 }));
    assert.equal(error?.code, -32602);
    assert.match(error?.message ?? "", /respawn/);
  });

  it("answers -32000 when the hook throws, rejects or answers with a wrong type", async () => {
    for (const point of ["phase_changed", "input_received", "work_item_complete"]) {
      assert.equal((await ask(call(point))).error?.code, -32000, point);
    }
  });

  it("uses defaults for what is missing, ignores what is unknown, and expands a ref", async () => {
    const hook = new Recorder();
    const { result } = await ask(call("session_spawn", { work_item: "github:o/r#3", zeal: 1 }), hook);
    assert.deepEqual(result, { prompt: " and more", proceed: true, reason: "" });
    const [seen] = hook.seen as [SessionSpawn];
    assert.equal(seen.work_item.url, "https://github.com/o/r/issues/3");
    assert.deepEqual(seen.harness_args, []);
  });

  it("answers null where the point is not overridden, and echoes the id", async () => {
    assert.deepEqual(await ask(call("session_spawned", {}, "a")), { jsonrpc: "2.0", id: "a", result: null });
    assert.equal((await ask(call("session_spawned", {}, { odd: 1 }))).id, null);
  });
});

describe("handleRequest() of a Request", () => {
  const url = "http://127.0.0.1/hooks";
  const post = (headers: Record<string, string> = {}) =>
    new Request(url, { method: "POST", body: JSON.stringify(call("session_spawn")), headers });

  it("says on /health which points are handled, without a token", async () => {
    const response = await handleRequest(new Recorder(), new Request(`${url}/health`), {
      tokenEnv: "REYN_T_UNSET",
    });
    assert.equal(response.status, 200);
    assert.deepEqual(await response.json(), {
      ok: true,
      points: ["session_spawn", "input_received", "phase_changed", "work_item_complete"],
    });
    assert.deepEqual(POINTS.slice(0, 2), ["work_item_start", "session_spawn"]);
  });

  it("answers 404 for other GETs and other methods", async () => {
    assert.equal((await handleRequest(new Recorder(), new Request(url))).status, 404);
    assert.equal((await handleRequest(new Recorder(), new Request(url, { method: "DELETE" }))).status, 404);
  });

  it("needs the token, and lets nobody pass while its variable is unset", async () => {
    const options = { tokenEnv: "REYN_T_TOKEN" };
    const status = async (headers?: Record<string, string>) =>
      (await handleRequest(new Recorder(), post(headers), options)).status;
    delete process.env["REYN_T_TOKEN"];
    assert.equal(await status({ authorization: "Bearer " }), 401);
    assert.equal(await status({ authorization: "Bearer undefined" }), 401);
    process.env["REYN_T_TOKEN"] = "right";
    try {
      assert.equal(await status(), 401);
      assert.equal(await status({ authorization: "Bearer wrong" }), 401);
      assert.equal(await status({ authorization: "right" }), 401);
      assert.equal(await status({ authorization: "Bearer right" }), 200);
    } finally {
      delete process.env["REYN_T_TOKEN"];
    }
  });

  it("refuses a body that is too large", async () => {
    const request = new Request(url, { method: "POST", body: "x".repeat(2000) });
    assert.equal((await handleRequest(new Recorder(), request, { maxBodyBytes: 1000 })).status, 413);
  });
});
