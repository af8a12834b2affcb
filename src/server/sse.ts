import type { Clock } from "../clock/clock.ts";
import { failure } from "./api_error.ts";

export interface SseEvent {
  id?: string;
  type?: string;
  /** One line. */
  data: string;
}

export interface SseOut {
  send(event: SseEvent): void;
  /** Ends the stream when what was sent has gone out. */
  end(): void;
}

/** The streams that a server has open. */
export interface OpenStreams {
  /** Streams to one reader. `cutOff` closes the connection, whatever is still to be sent. */
  to(cutOff: () => void): Streams;
  /** Ends all of them; none is opened any more. */
  close(): void;
}

/** The streams of one reader. */
export interface Streams {
  /**
   * A stream of events. `open` is called at once; what it answers is called when the stream has ended, however. A reader
   * who falls too far behind is cut off, and may come back with the id of the last event it saw.
   */
  events(open: (out: SseOut) => () => void, options?: { behind?: number }): Response;
  /** Lines that are made as they are read. */
  lines(source: AsyncIterable<string>, type: string): Response;
  /** How many the server has open, to whomever. */
  readonly open: number;
}

const MOST_OPEN = 256;
/** What may wait for a slow reader, in bytes. */
const BEHIND = 1024 * 1024;
/** Tells those between that the stream lives, and finds out that the reader is gone. */
const HEARTBEAT_MS = 15_000;

export function openStreams(clock: Clock): OpenStreams {
  const ends = new Set<() => void>();
  let closed = false;
  const encoder = new TextEncoder();

  const admit = () => {
    if (closed) throw failure(503, "E_STOPPING", "reyn is stopping");
    if (ends.size >= MOST_OPEN) throw failure(503, "E_HTTP_BUSY", `${MOST_OPEN} streams are open already`);
  };

  const respond = (stream: ReadableStream<Uint8Array>, type: string) =>
    new Response(stream, {
      headers: { "content-type": type, "cache-control": "no-store", "x-accel-buffering": "no" },
    });

  const streamsTo = (cutOff: () => void): Streams => ({
    get open() {
      return ends.size;
    },
    events(open, { behind = BEHIND } = {}) {
      admit();
      let stop: () => void = () => {};
      let over = false;
      const finish = () => {
        if (over) return;
        over = true;
        ends.delete(end);
        cancelBeat();
        stop();
      };
      let end: () => void = finish;
      let cancelBeat: () => void = () => {};
      const stream = new ReadableStream<Uint8Array>({
        start(controller) {
          const write = (text: string) => {
            if (over) return;
            if ((controller.desiredSize ?? 0) <= -behind) return cut();
            controller.enqueue(encoder.encode(text));
          };
          // To end the stream in order would keep what waits, and the connection, for a reader that stands still.
          const cut = () => {
            finish();
            cutOff();
          };
          end = () => {
            if (over) return;
            finish();
            controller.close();
          };
          ends.add(end);
          const beat = () => {
            write(": \n\n");
            if (!over) cancelBeat = clock.after(HEARTBEAT_MS, beat);
          };
          beat();
          stop = open({ send: (event) => write(eventText(event)), end: () => end() });
          if (over) stop();
        },
        cancel: finish,
      }, new ByteLengthQueuingStrategy({ highWaterMark: 64 * 1024 }));
      return respond(stream, "text/event-stream");
    },
    lines(source, type) {
      admit();
      const lines = source[Symbol.asyncIterator]();
      const end = () => void lines.return?.();
      ends.add(end);
      const stream = new ReadableStream<Uint8Array>({
        async pull(controller) {
          try {
            const { done, value } = await lines.next();
            if (!done) return controller.enqueue(encoder.encode(value));
          } catch (error) {
            ends.delete(end);
            throw error;
          }
          ends.delete(end);
          controller.close();
        },
        cancel() {
          ends.delete(end);
          end();
        },
      });
      return respond(stream, type);
    },
  });

  return {
    to: streamsTo,
    close() {
      closed = true;
      for (const end of [...ends]) end();
    },
  };
}

function eventText({ id, type, data }: SseEvent): string {
  return `${id === undefined ? "" : `id: ${id}\n`}${
    type === undefined ? "" : `event: ${type}\n`
  }data: ${data}\n\n`;
}
