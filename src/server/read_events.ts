/** One event of an event stream. */
export interface ReadEvent {
  id: string | undefined;
  type: string;
  data: string;
}

/** Reads an event stream (`text/event-stream`) until it ends; an abort of the signal ends it quietly. */
export async function* readEvents(
  source: AsyncIterable<unknown>,
  signal?: AbortSignal,
): AsyncGenerator<ReadEvent> {
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for await (const part of source) {
      rest += decoder.decode(part as Uint8Array, { stream: true });
      if (!rest.includes("\n\n")) continue;
      const blocks = rest.split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const event = parseBlock(block);
        if (event) yield event;
      }
    }
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}

function parseBlock(block: string): ReadEvent | undefined {
  let id: string | undefined;
  let type = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon < 1) continue;
    const value = line.slice(colon + 1).replace(/^ /, "");
    const field = line.slice(0, colon);
    if (field === "id") id = value;
    else if (field === "event") type = value;
    else if (field === "data") data.push(value);
  }
  return data.length === 0 ? undefined : { id, type, data: data.join("\n") };
}
