export type Body = { state: "text"; text: string } | { state: "too_large" } | { state: "failed" };

/** Reads a body of at most `maxBytes`, decoded as UTF-8; what is longer is given up at once. */
export async function readBody(
  source: { body: ReadableStream<Uint8Array> | null },
  maxBytes: number,
): Promise<Body> {
  if (source.body === null) return { state: "text", text: "" };
  const reader = source.body.getReader();
  const decoder = new TextDecoder();
  let total = 0;
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return { state: "text", text: text + decoder.decode() };
      total += value.length;
      if (total > maxBytes) {
        reader.cancel().catch(() => {});
        return { state: "too_large" };
      }
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    return { state: "failed" };
  }
}
