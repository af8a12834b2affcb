// Runs the example session of docs/examples/demo on a text file of this repository, offline, and shows its timeline.
import { spawn } from "node:child_process";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const place = await mkdtemp(join(tmpdir(), "reyn-demo-"));
const folder = join(place, "control");
await cp(join(root, "docs/examples/demo"), folder, { recursive: true });

/** Runs reyn from source in the demo's folder; replies and talk go to stdout, in order. */
function reyn(...args: string[]): Promise<number> {
  console.log(`\n$ reyn ${args.join(" ")}`);
  const child = spawn(process.execPath, [
    "run",
    "-A",
    "--no-check",
    join(root, "src/main.ts"),
    ...args,
    "-C",
    folder,
  ], {
    stdio: ["ignore", process.stdout.fd, process.stdout.fd],
    env: { ...process.env, HOME: join(place, "home"), NO_COLOR: "1" },
  });
  return new Promise((resolve) => {
    child.on("error", () => resolve(1));
    child.on("exit", (code) => resolve(code ?? 1));
  });
}

try {
  const codes = [
    await reyn("check"),
    await reyn("run", "--file", join(root, "LICENSE")),
    await reyn("sessions", "show", "main"),
  ];
  process.exitCode = codes.every((code) => code === 0) ? 0 : 1;
} finally {
  await rm(place, { recursive: true, force: true });
}
