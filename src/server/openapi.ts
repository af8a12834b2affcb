import { z } from "zod";
import type { Route } from "./route.ts";

type JsonSchema = Record<string, unknown>;

const ERROR = z.object({
  error: z.object({ code: z.string(), message: z.string(), fix: z.string().optional() }),
});

/** The OpenAPI 3.1 document of the routes: made from the very schemas that judge requests. */
export function openApiDocument(routes: readonly Route[], version: string): JsonSchema {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = paths[route.path] ??= {};
    path[route.method.toLowerCase()] = operation(route);
  }
  return {
    openapi: "3.1.0",
    info: { title: "reyn", version, description: "Sessions of a reyn server." },
    paths,
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      schemas: { Error: schemaOf(ERROR, "output") },
    },
  };
}

function operation({ method, summary, needs, path, query, headers = {}, body, answers }: Route): JsonSchema {
  const parameters: JsonSchema[] = [];
  if (path.includes("{session}")) {
    parameters.push({
      name: "session",
      in: "path",
      required: true,
      description: "`<agent>/<sid>`, its slash as it is or as %2F; `<sid>` alone is of the agent `default`.",
      schema: { type: "string" },
    });
  }
  if (path.includes("{id}")) {
    parameters.push({ name: "id", in: "path", required: true, schema: { type: "string" } });
  }
  for (const [name, schema] of Object.entries(query?.shape ?? {})) {
    const { description, ...form } = schemaOf(schema as z.ZodType, "input");
    parameters.push({ name, in: "query", required: false, description, schema: form });
  }
  for (const [name, description] of Object.entries(headers)) {
    parameters.push({ name, in: "header", required: false, description, schema: { type: "string" } });
  }
  const responses: Record<string, unknown> = {};
  for (const [status, { says, schema, type = "application/json" }] of Object.entries(answers)) {
    const form = schema ? { schema: schemaOf(schema, "output") } : {};
    responses[status] = {
      description: says,
      content: Object.fromEntries([type].flat().map((one) => [one, form])),
    };
  }
  responses["default"] = {
    description: "an error",
    content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
  };
  return {
    operationId: operationId(method, path),
    summary,
    ...(needs.length === 0 ? { security: [] } : { security: [{ token: [] }], "x-scopes": needs }),
    parameters,
    ...(body
      ? {
        requestBody: { required: true, content: { "application/json": { schema: schemaOf(body, "input") } } },
      }
      : {}),
    responses,
  };
}

/** `postSessionsSessionMessages` of `POST /api/sessions/{session}/messages`. */
function operationId(method: string, path: string): string {
  const words = path.split(/[^A-Za-z]+/).filter((word) => word !== "" && word !== "api");
  return words.reduce(
    (id, word) => id + word.slice(0, 1).toUpperCase() + word.slice(1),
    method.toLowerCase(),
  );
}

function schemaOf(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  const { $schema: _dialect, ...form } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return form;
}
