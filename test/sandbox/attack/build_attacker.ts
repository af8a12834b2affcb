import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const SOURCE = fileURLToPath(new URL("./attacker", import.meta.url));
const COMPILERS = ["gcc", "cc", "clang"];

/**
 * Builds the test attacker, or takes the one that was built from the same source. Without a C compiler this throws: a suite without
 * its attacker has shown nothing. On Debian the packages are gcc and libc6-dev.
 */
export async function buildAttacker(): Promise<string> {
  const sources = readdirSync(SOURCE).filter((name) => /\.[ch]$/.test(name)).sort();
  const hash = createHash("sha256");
  for (const name of sources) hash.update(readFileSync(path.join(SOURCE, name)));
  const folder = path.join(
    realpathSync(tmpdir()),
    `reyn-attacker-${process.getuid?.()}-${hash.digest("hex").slice(0, 12)}`,
  );
  const file = path.join(folder, "attacker");
  if (existsSync(file)) return file;
  const building = mkdtempSync(`${folder}.`);
  const output = path.join(building, "attacker");
  const args = [
    "-std=gnu11",
    "-O1",
    "-o",
    output,
    ...sources.filter((name) => name.endsWith(".c")),
    "-lpthread",
    "-lrt",
  ];
  const problems: string[] = [];
  for (const compiler of COMPILERS) {
    const problem = await compile(compiler, args);
    if (problem !== undefined) {
      problems.push(`${compiler}: ${problem}`);
      continue;
    }
    chmodSync(building, 0o755);
    chmodSync(output, 0o755);
    try {
      renameSync(building, folder);
      return file;
    } catch {
      // Another run was first.
      return existsSync(file) ? file : output;
    }
  }
  throw new Error(
    `NO TEST ATTACKER: a C compiler is needed (Debian: gcc, libc6-dev); ${problems.join("; ")}`,
  );
}

function compile(compiler: string, args: string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    let output = "";
    const child = spawn(compiler, args, { cwd: SOURCE, stdio: ["ignore", "ignore", "pipe"] });
    child.on("error", (error) => resolve(error.message));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.on("close", (code) => resolve(code === 0 ? undefined : output || `exit ${code}`));
  });
}
