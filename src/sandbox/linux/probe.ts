import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { errorCode } from "../../adapter/executable.ts";
import { REPORT_FD } from "./helper_arguments.ts";
import { type HelperEnd, readReport } from "./helper_report.ts";
import type { InstalledHelper } from "./install_helper.ts";
import { launch } from "./launch.ts";

/** What the self test found. */
export type ProbeResult =
  | { confirmed: true; landlockAbi: number; durationMs: number }
  | { confirmed: false; reason: string };

/** Long enough for a machine under load; the helper ends what is stuck. Real time. */
const TIMEOUT_MS = 10_000;
const PLAIN = "plain";

/** What the floor refuses and allows; errno 0 is success. */
const FLOOR_REFUSES = [
  ...[
    "report_descriptor",
    "read_secret",
    "list_secret",
    "write_plain",
    "truncate_plain",
    "chmod_plain",
    "create",
  ],
  ...["create_beside", "fork", "clone3", "signal_parent", "ptrace", "unshare"],
  ...["inet", "inet6", "unix", "netlink", "packet", "io_uring"],
];
const FLOOR_ALLOWS = ["read_plain", "list_folder", "dev_null"];
/** The same with every axis lifted: what the grants are for, and what they never cover. */
const LIFTED_REFUSES = [
  ...["report_descriptor", "read_secret", "list_secret", "write_plain", "truncate_plain", "chmod_plain"],
  ...[
    "create_beside",
    "clone3",
    "signal_parent",
    "ptrace",
    "unshare",
    "unix",
    "netlink",
    "packet",
    "io_uring",
  ],
];
const LIFTED_ALLOWS = ["read_plain", "list_folder", "dev_null", "create", "fork", "inet", "inet6"];

/**
 * Runs the helper inside its own sandbox, at the floor and with every axis lifted: what is to be refused must be, what is to work
 * must, and the files on disk must agree. A helper that merely executes, a missing one and a kernel without Landlock fail it.
 */
export async function selfTest(helper: InstalledHelper): Promise<ProbeResult> {
  const started = performance.now();
  let folder: string;
  try {
    folder = mkdtempSync(path.join(realpathSync(os.tmpdir()), "reyn-probe-"));
  } catch (error) {
    return {
      confirmed: false,
      reason: `no folder for the self test can be made in ${os.tmpdir()} (${errorCode(error)})`,
    };
  }
  try {
    for (const name of ["secret", "granted"]) mkdirSync(path.join(folder, name));
    writeFileSync(path.join(folder, "secret/key"), "secret");
    writeFileSync(path.join(folder, PLAIN), PLAIN);
    const lift = ["--subprocess", "--network", "--write", path.join(folder, "granted")];
    const floor = await attempt(helper, folder, []);
    const created = existsSync(path.join(folder, "granted/new"));
    const lifted = await attempt(helper, folder, lift);
    const problems = [
      ...compare("floor", floor, FLOOR_REFUSES, FLOOR_ALLOWS),
      ...compare("lifted", lifted, LIFTED_REFUSES, LIFTED_ALLOWS),
      ...(floor.end?.denied.fork === 1 || !floor.end ? [] : ["floor: the refused process was not counted"]),
      ...(created ? ["floor: a file was created"] : []),
      ...(readFileSync(path.join(folder, PLAIN), "utf8") === PLAIN ? [] : ["a file was changed"]),
      ...(!lifted.end || existsSync(path.join(folder, "granted/new"))
        ? []
        : ["lifted: a granted file was not created"]),
    ];
    const abi = floor.end?.abi;
    if (problems.length > 0 || abi === undefined) {
      return { confirmed: false, reason: problems.slice(0, 4).join("; ") };
    }
    return { confirmed: true, landlockAbi: abi, durationMs: performance.now() - started };
  } catch (error) {
    return { confirmed: false, reason: `the self test failed (${errorCode(error)})` };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Attempt {
  /** errno by attempt, as the program inside saw it. */
  seen?: Record<string, unknown>;
  end?: HelperEnd;
  reason?: string;
}

async function attempt(helper: InstalledHelper, folder: string, lift: string[]): Promise<Attempt> {
  const args = [
    ...[
      "--report-fd",
      String(REPORT_FD),
      "--runtime-pid",
      String(process.pid),
      "--timeout-ms",
      String(TIMEOUT_MS),
    ],
    ...["--deny", path.join(folder, "secret"), ...lift, "--", helper.file, "--self-test", folder],
  ];
  let stdout = "";
  const ended = await launch({
    file: helper.executable,
    args,
    cwd: "/",
    env: {},
    stdin: "",
    onStdout: (chunk) => (stdout += new TextDecoder().decode(chunk)),
    onStderr: () => {},
  }).ended;
  if (!ended.launched) return { reason: ended.reason };
  const report = readReport(ended.report);
  if (report?.refusal) {
    const { stage, errno } = report.refusal;
    return { reason: stage === "landlock_abi" ? "the kernel has no Landlock" : `${stage} (errno ${errno})` };
  }
  if (!report?.started || !report.end) return { reason: "the helper did not report" };
  try {
    const seen: unknown = JSON.parse(stdout);
    if (typeof seen !== "object" || seen === null) return { reason: "the program inside did not answer" };
    return { seen: { ...seen }, end: report.end };
  } catch {
    return { reason: "the program inside did not answer" };
  }
}

function compare(
  name: string,
  attempt: Attempt,
  refused: readonly string[],
  allowed: readonly string[],
): string[] {
  const { seen } = attempt;
  if (!seen) return [`${name}: ${attempt.reason ?? "nothing was seen"}`];
  const isErrno = (value: unknown): value is number => typeof value === "number";
  const open = refused.filter((key) => !isErrno(seen[key]) || seen[key] === 0);
  const closed = allowed.filter((key) => seen[key] !== 0);
  return [
    ...(open.length > 0 ? [`${name}: not refused: ${open.join(", ")}`] : []),
    ...(closed.length > 0 ? [`${name}: not allowed: ${closed.join(", ")}`] : []),
  ];
}
