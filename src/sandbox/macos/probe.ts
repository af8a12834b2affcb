import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import os from "node:os";
import path from "node:path";
import { errorCode } from "../../adapter/executable.ts";
import { systemClock } from "../../clock/clock.ts";
import { FLOOR, type Grants } from "../policy.ts";
import type { SandboxRun } from "../result.ts";
import { FLOOR_ALLOWS, FLOOR_REFUSES, LIFTED_ALLOWS, LIFTED_REFUSES, PROBE_SCRIPT } from "./probe_script.ts";
import { runSeatbelt } from "./run.ts";

/** What the self test found. */
export type SeatbeltProbe =
  | { confirmed: true; landlockAbi?: never; durationMs: number }
  | { confirmed: false; reason: string };

/** Long enough for a machine under load. Real time, as the machine is what is asked. */
const TIMEOUT_MS = 20_000;
const SECRET = "not to be seen";
const PLAIN = "plain";
const MOST_PROBLEMS = 4;

/**
 * Runs bash confined, at the floor and with every axis lifted, through the path that hooks take: what is to be refused must be, what
 * is to work must, and the files on disk must agree. A missing sandbox-exec, one that merely executes, one that does not take the
 * profile, and a reyn that is itself in a sandbox fail it.
 */
export async function seatbeltSelfTest(sandboxExec: string): Promise<SeatbeltProbe> {
  const started = performance.now();
  if (!existsSync(sandboxExec)) return { confirmed: false, reason: `there is no ${sandboxExec}` };
  let folder: string | undefined;
  const servers: Server[] = [];
  try {
    folder = mkdtempSync(path.join(realpathSync(os.tmpdir()), "reyn-probe-"));
    const place = furnish(folder);
    let connections = 0;
    const listen = async (at: number | string) => {
      const server = createServer((socket) => {
        connections += 1;
        socket.on("error", () => {});
        socket.end();
      });
      servers.push(server);
      await listening(server, at);
      return server.address();
    };
    const address = await listen(0);
    await listen(path.join(folder, "socket"));
    const port = typeof address === "object" && address !== null ? address.port : 0;

    const floor = await attempt(sandboxExec, folder, port, FLOOR);
    const problems = [
      ...compare("floor", floor, FLOOR_REFUSES, FLOOR_ALLOWS),
      ...(/^fork 1$/m.test(floor.stdoutText) ? ["floor: not refused: fork"] : []),
      ...place.problems("floor", false),
      ...(connections > 0 ? ["floor: something connected"] : []),
    ];
    if (problems.length === 0) {
      const grants = { subprocess: true, network: true, writePaths: [path.join(folder, "granted")] };
      const lifted = await attempt(sandboxExec, folder, port, grants);
      problems.push(
        ...compare("lifted", lifted, LIFTED_REFUSES, LIFTED_ALLOWS),
        ...place.problems("lifted", true),
      );
    }
    if (problems.length > 0) {
      return { confirmed: false, reason: problems.slice(0, MOST_PROBLEMS).join("; ") };
    }
    return { confirmed: true, durationMs: performance.now() - started };
  } catch (error) {
    return { confirmed: false, reason: `the self test failed (${errorCode(error)})` };
  } finally {
    for (const server of servers) server.close();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

function furnish(folder: string) {
  const at = (name: string) => path.join(folder, name);
  for (const name of ["home/.ssh", "control", "granted"]) mkdirSync(at(name), { recursive: true });
  writeFileSync(at("home/.ssh/key"), SECRET + "\n");
  writeFileSync(at("home/.ssh/program"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
  writeFileSync(at("control/reyn.yaml"), PLAIN);
  writeFileSync(at("plain"), PLAIN + "\n");
  symlinkSync(at("home/.ssh/key"), at("link"));
  const isStill = (name: string, text: string) =>
    existsSync(at(name)) && readFileSync(at(name), "utf8") === text;
  return {
    /** What the disk says that should not be. */
    problems(name: string, lifted: boolean): string[] {
      const intact = isStill("home/.ssh/key", SECRET + "\n") && isStill("control/reyn.yaml", PLAIN) &&
        isStill("plain", PLAIN + "\n");
      const made = ["home/.ssh/planted", "beside", "granted/moved/key", "granted/linked", "granted/copied"]
        .filter((file) => existsSync(at(file)));
      return [
        ...(intact ? [] : [`${name}: a guarded file was changed`]),
        ...(made.length > 0 ? [`${name}: ${made.join(", ")} was made`] : []),
        ...(existsSync(at("granted/new")) === lifted
          ? []
          : [lifted ? `${name}: a granted file was not made` : `${name}: a file was made`]),
      ];
    },
  };
}

function attempt(sandboxExec: string, folder: string, port: number, grants: Grants): Promise<SandboxRun> {
  const mode = grants.subprocess ? "lifted" : "floor";
  return runSeatbelt(sandboxExec, {
    argv: ["/bin/bash", "--noprofile", "--norc", "-c", PROBE_SCRIPT, "probe", folder, String(port), mode],
    cwd: "/",
    env: { PATH: "/usr/bin:/bin", LC_ALL: "C" },
    policy: {
      controlDir: path.join(folder, "control"),
      homes: [path.join(folder, "home")],
      grants,
      denyRead: [],
      readOnly: [],
    },
    timeoutMs: TIMEOUT_MS,
    stdout: "capture",
    clock: systemClock,
  });
}

function compare(
  name: string,
  run: SandboxRun,
  refused: readonly string[],
  allowed: readonly string[],
): string[] {
  if (run.outcome === "sandbox_unconfirmed") return [run.reason ?? "it could not be confined"];
  const seen = new Map(
    run.stdoutText.split("\n").map((line) => {
      const [attempt = "", worked = ""] = line.split(" ");
      return [attempt, worked] as const;
    }),
  );
  if (!seen.has("read_plain")) {
    const why = run.signal ?? run.reason ?? `${run.outcome} ${run.returncode}`;
    return [`${name}: the program inside did not answer (${why})`];
  }
  const open = refused.filter((attempt) => seen.get(attempt) !== "0");
  const closed = allowed.filter((attempt) => seen.get(attempt) !== "1");
  return [
    ...(run.stdoutText.includes(SECRET) ? [`${name}: the secret was seen`] : []),
    ...(open.length > 0 ? [`${name}: not refused: ${open.join(", ")}`] : []),
    ...(closed.length > 0 ? [`${name}: not allowed: ${closed.join(", ")}`] : []),
  ];
}

function listening(server: Server, at: number | string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.on("error", reject);
    if (typeof at === "number") server.listen(at, "127.0.0.1", () => resolve());
    else server.listen(at, () => resolve());
  });
}
