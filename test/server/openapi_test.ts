import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { allRoutes } from "../../src/server/app.ts";
import { startTestServer, type TestServer } from "./harness.ts";

interface Operation {
  summary: string;
  security: unknown[];
  parameters: { name: string; in: string; required: boolean }[];
  requestBody?: {
    content: Record<string, { schema: { required?: string[]; additionalProperties?: boolean } }>;
  };
  responses: Record<string, { description: string }>;
}

describe("the OpenAPI document", () => {
  let server: TestServer;
  let paths: Record<string, Record<string, Operation>>;

  before(async () => {
    server = await startTestServer();
    const answer = await server.fetch("/api/openapi.json");
    paths = (await answer.json() as { paths: typeof paths }).paths;
  });
  after(() => server.close());

  it("holds every route of the server and nothing else", () => {
    const facts = { url: null, version: "0", metrics: () => Promise.resolve({ type: "", text: "" }) };
    const routes = allRoutes(facts).map(({ method, path }) => `${method} ${path}`).sort();
    const documented = Object.entries(paths)
      .flatMap(([path, operations]) =>
        Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`)
      )
      .sort();
    assert.deepEqual(documented, routes);
  });

  it("tells of each call a success, its errors and who may", () => {
    for (const [path, operations] of Object.entries(paths)) {
      for (const operation of Object.values(operations)) {
        assert.ok(operation.summary.length > 0, path);
        assert.ok(Object.keys(operation.responses).some((status) => status.startsWith("2")), path);
        assert.ok(operation.responses["default"], path);
        const open = ["/healthz", "/readyz"].includes(path);
        assert.equal(operation.security.length, open ? 0 : 1, path);
      }
    }
  });

  it("is what requests are judged by: what it requires is required, what it does not know refused", async () => {
    const body = paths["/api/sessions/{session}/messages"]?.["post"]?.requestBody;
    const schema = body?.content["application/json"]?.schema;
    assert.deepEqual(schema?.required, ["text"]);
    assert.equal(schema?.additionalProperties, false);
    const post = (value: unknown) =>
      server.fetch("/api/sessions/main/messages", { method: "POST", body: JSON.stringify(value) });
    assert.equal((await post({})).status, 400);
    assert.equal((await post({ text: "a", other: 1 })).status, 400);
    assert.equal((await post({ text: "a" })).status, 202);
  });

  it("answers each documented path with something else than 404 or 405", async () => {
    for (const [path, operations] of Object.entries(paths)) {
      for (const method of Object.keys(operations)) {
        const real = path.replace("{session}", "default/main");
        const answer = await fetch(server.url + real, { method: method.toUpperCase() });
        assert.ok([200, 401].includes(answer.status), `${method} ${path}: ${answer.status}`);
        await answer.body?.cancel();
      }
    }
  });
});
