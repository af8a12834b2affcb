import type { Model, ModelDelta, ModelMessage, ModelRequest } from "../../src/model/model.ts";

export function request(messages: readonly ModelMessage[], rest: Partial<ModelRequest> = {}): ModelRequest {
  return { session: "default/main", agent: "default", turn: 1, step: 1, messages, ...rest };
}

export const hello: readonly ModelMessage[] = [{ role: "user", text: "hello" }];

export async function deltasOf(
  model: Model,
  asked: ModelRequest = request(hello),
  signal: AbortSignal = new AbortController().signal,
): Promise<ModelDelta[]> {
  const deltas: ModelDelta[] = [];
  for await (const delta of model.step(asked, signal)) deltas.push(delta);
  return deltas;
}

export async function answer(model: Model, asked?: ModelRequest, signal?: AbortSignal): Promise<string> {
  return (await deltasOf(model, asked, signal)).map((delta) => delta.type === "text" ? delta.text : "").join(
    "",
  );
}

export async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; !condition(); i++) {
    if (i > 500) throw new Error("waited 5 s in vain");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
