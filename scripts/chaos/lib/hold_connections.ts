import { connect, type Socket } from "node:net";
import process from "node:process";

/**
 * `PORT TOKEN IDLE SLOW MS`: holds connections, a part with nothing, a part with a head and a part with a body that come byte by
 * byte, and sends wrong requests beside, until all have been closed or the time is over. Says how it went.
 */
const [port = "", token = "", idle = "", slow = "", ms = ""] = process.argv.slice(2);
const HOST = "Host: 127.0.0.1\r\n";
const AUTH = `Authorization: Bearer ${token}\r\n`;
const POST = `POST /api/sessions/hostile/messages HTTP/1.1\r\n`;
const JSON_BODY = `${POST}${HOST}${AUTH}Content-Type: application/json\r\n`;

const sockets: Socket[] = [];
let closed = 0;
const open = (): Socket => {
  const socket = connect(Number(port), "127.0.0.1");
  sockets.push(socket);
  return socket.on("error", () => {}).on("close", () => closed += 1).resume();
};

function withBody(text: string): string {
  return `${JSON_BODY}Content-Length: ${new TextEncoder().encode(text).length}\r\n\r\n${text}`;
}

/** Each with the status that is right. */
const WRONG: readonly (readonly [name: string, request: string, status: number])[] = [
  ["malformed JSON", withBody('{"text": '), 400],
  ["another type", withBody('{"text": 1}'), 400],
  ["a body said to be huge", `${JSON_BODY}Content-Length: 99999999999\r\n\r\n`, 413],
  [
    "huge chunks",
    `${JSON_BODY}Transfer-Encoding: chunked\r\n\r\n900000\r\n${"x".repeat(0x900000)}\r\n0\r\n\r\n`,
    413,
  ],
  ["a broken chunk", `${JSON_BODY}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, 400],
  ["two lengths", `${JSON_BODY}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400],
  ["no token", `GET /api/sessions HTTP/1.1\r\n${HOST}\r\n`, 401],
  [
    "a wrong token",
    `GET /api/sessions HTTP/1.1\r\n${HOST}Authorization: Bearer ${"0".repeat(32)}\r\n\r\n`,
    401,
  ],
  [
    "dots",
    `${
      POST.replace("hostile", "default/%2e%2e%2fx")
    }${HOST}${AUTH}Content-Type: application/json\r\nContent-Length: 12\r\n\r\n{"text":"a"}`,
    400,
  ],
  ["out of the paths", `GET /api/..%2f..%2fetc/passwd HTTP/1.1\r\n${HOST}${AUTH}\r\n`, 404],
  ["another origin", `GET /healthz HTTP/1.1\r\n${HOST}Origin: https://evil.example\r\n\r\n`, 403],
  ["rebinding", `GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n`, 421],
  ["a large head", `GET /healthz HTTP/1.1\r\n${HOST}X: ${"a".repeat(20_000)}\r\n\r\n`, 431],
];

function statusOf(request: string): Promise<number> {
  return new Promise((resolve) => {
    let text = "";
    const socket = connect(Number(port), "127.0.0.1");
    const done = () => {
      clearTimeout(timer);
      resolve(Number(/^HTTP\/1\.1 (\d+) /.exec(text)?.[1] ?? 0));
      socket.destroy();
    };
    const timer = setTimeout(done, 5000);
    socket.on("error", () => {}).on("close", done).setEncoding("latin1").on("data", (part: string) => {
      text += part;
      if (text.includes("\r\n\r\n")) done();
    });
    socket.write(request, "latin1");
  });
}

for (let n = 0; n < Number(idle); n++) open();
const slowly = Array.from({ length: Number(slow) }, (_, n) => {
  const socket = open();
  const text = n % 2 === 0
    ? `GET /healthz HTTP/1.1\r\n${HOST}X: ${"a".repeat(4000)}`
    : `${JSON_BODY}Content-Length: 100000\r\n\r\n${"x".repeat(4000)}`;
  // Of a body the head comes at once.
  let at = n % 2 === 0 ? 0 : text.indexOf("\r\n\r\n") + 4;
  if (at > 0) socket.write(text.slice(0, at));
  return () => {
    if (socket.writable) socket.write(text[at++] ?? "a");
  };
});
const timer = setInterval(() => slowly.forEach((write) => write()), 100);
const until = Date.now() + Number(ms);
await new Promise((resolve) => setTimeout(resolve, 500));
const opened = sockets.length - closed;
console.log("holding");

const wrong: string[] = [];
let refused = 0;
while (closed < sockets.length && Date.now() < until) {
  for (const [name, request, status] of WRONG) {
    const got = await statusOf(request);
    if (got === status) refused += 1;
    else if (wrong.length < 5) wrong.push(`${name}: ${got}, not ${status}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
clearInterval(timer);
const left = sockets.length - closed;
for (const socket of sockets) socket.destroy();
console.log(JSON.stringify({ open: opened, left, wrong, refused }));
process.exit(0);
