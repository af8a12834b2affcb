import process from "node:process";
import { performance } from "node:perf_hooks";
import { ask } from "./ask.ts";

/** `PORT TOKEN COUNT`: asks one request after the other, as a client of its own, and says how long they took. */
const [port = "", , count = ""] = process.argv.slice(2);
const to = { port: Number(port) };
const times: number[] = [];
const wrong: string[] = [];
for (let n = 0; n < Number(count); n++) {
  const writes = n % 3 === 0;
  const what = writes
    ? { to, path: "/api/sessions/measured/messages", body: { text: `n ${n}` } }
    : { to, path: n % 3 === 1 ? "/api/status" : "/healthz" };
  const since = performance.now();
  const answer = await ask(what).catch(() => undefined);
  times.push(performance.now() - since);
  if (answer?.status !== (writes ? 202 : 200)) wrong.push(`${what.path}: ${answer?.status} ${answer?.body}`);
  await new Promise((resolve) => setTimeout(resolve, 10));
}
times.sort((a, b) => a - b);
const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
console.log(JSON.stringify({
  requests: times.length,
  wrong: wrong.slice(0, 3),
  median: at(0.5),
  p99: at(0.99),
  max: at(1),
}));
