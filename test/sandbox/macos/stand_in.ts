/**
 * Stands in for sandbox-exec where there is none: reads the profile that it is given as our own reader and model understand it, and
 * has Linux enforce the same. What it shows is the spawn path and the self test, not what macOS makes of a profile.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { decideSurely } from "../../../src/sandbox/macos/decide.ts";
import { headOf, readForms, type Rule, rulesOf } from "../../../src/sandbox/macos/reader.ts";
import { loadHelper } from "../../../src/sandbox/linux/helper_bytes.ts";
import { installHelper } from "../../../src/sandbox/linux/install_helper.ts";

const [, , option, profile = "", ...argv] = process.argv;
const read = readForms(profile);
if (option !== "-p" || !read.ok) {
  process.stderr.write("sandbox-exec: the profile is not understood\n");
  process.exit(65);
}
const rules = rulesOf(read.forms);
const folders = (wanted: (rule: Rule) => boolean) =>
  rules.filter(wanted).flatMap((rule) =>
    rule.filters.flatMap((filter) => {
      const text = headOf(filter) === "subpath" && filter.kind === "list" ? filter.items[1] : undefined;
      return text?.kind === "string" ? [text.text] : [];
    })
  );
const denied = folders((rule) => rule.action === "deny" && rule.operations.includes("file-read-data"));
const guarded = folders((rule) => rule.action === "deny" && rule.operations.includes("file-write-data"));
const writable = folders((rule) => rule.action === "allow" && rule.operations.includes("file-write*"));
const isOpen = (operation: string) => decideSurely(rules, { operation, socket: "ip" }) === "allow";

const loaded = await loadHelper(process.arch);
if (!loaded.ok) throw new Error(loaded.reason);
const install = installHelper(loaded.helper, path.join(os.tmpdir(), `reyn-helper-${os.userInfo().uid}`));
if (!install.ok) throw new Error(install.reason);
const child = spawn(install.installed.executable, [
  ...["--report-fd", "3", "--runtime-pid", String(process.pid)],
  ...denied.flatMap((file) => ["--deny", file]),
  ...guarded.filter((file) => !denied.includes(file)).flatMap((file) => ["--read-only", file]),
  ...writable.filter((file) => existsSync(file)).flatMap((file) => ["--write", file]),
  ...(isOpen("process-fork") ? ["--subprocess"] : []),
  ...(isOpen("network-outbound") ? ["--network"] : []),
  ...["--", ...argv],
], { stdio: ["inherit", "inherit", "inherit", "ignore"] });
child.on("exit", (code) => process.exit(code ?? 1));
