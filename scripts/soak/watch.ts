import { request } from "node:http";

/** Opens streams of events, reads them for a while, goes away without a word, and comes again. */
export function startWatching(
  { port, token, paths }: { port: number; token: string; paths: readonly string[] },
) {
  const headers = { authorization: `Bearer ${token}`, accept: "text/event-stream" };
  let stopped = false;
  let opened = 0;
  const once = (path: string, ms: number): Promise<void> =>
    new Promise((resolve) => {
      const out = request({ port, host: "127.0.0.1", path, headers, agent: false }, (answer) => {
        opened += 1;
        answer.on("data", () => {});
        answer.on("error", () => {});
      });
      out.on("error", () => {});
      out.on("close", () => {
        clearTimeout(timer);
        resolve();
      });
      const timer = setTimeout(() => out.destroy(), ms);
      out.end();
    });
  const one = async (path: string, index: number) => {
    while (!stopped) await once(path, 500 + 250 * index);
  };
  const all = paths.map(one);
  return {
    get opened() {
      return opened;
    },
    async stop() {
      stopped = true;
      await Promise.all(all);
    },
  };
}
