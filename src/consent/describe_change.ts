import { quote } from "../errors/quote.ts";
import type { ConsentGrants, ConsentKey } from "./consent_key.ts";

const LONGEST_VALUE = 200;
const MOST_CHANGES = 20;

/**
 * What became different between an approved key and the one that would run now, a phrase for each difference, at most 20:
 * `content of "/srv/app/hook.sh" changed`, `argument 1 was "status", is "push"`, `network is asked for`. Empty for equal keys.
 */
export function describeChange(approved: ConsentKey, now: ConsentKey): string[] {
  const changes = [
    ...argvChanges(approved.argv, now.argv),
    ...(approved.cwd === now.cwd ? [] : [`folder was ${show(approved.cwd)}, is ${show(now.cwd)}`]),
    ...grantChanges(approved.grants, now.grants),
    ...listChanges("environment variable", approved.envNames, now.envNames),
    ...(approved.backend === now.backend ? [] : [was("sandbox", approved.backend, now.backend)]),
    ...configChanges(approved.config, now.config),
    ...fileChanges(approved.files, now.files),
  ];
  if (changes.length <= MOST_CHANGES) return changes;
  return [...changes.slice(0, MOST_CHANGES - 1), `${changes.length - MOST_CHANGES + 1} more changes`];
}

function argvChanges(before: readonly string[], after: readonly string[]): string[] {
  const changes: string[] = [];
  for (let i = 0; i < Math.max(before.length, after.length); i++) {
    const what = i === 0 ? "program" : `argument ${i}`;
    const [old, now] = [before[i], after[i]];
    if (old === now) continue;
    if (old === undefined) changes.push(`${what} ${show(now ?? "")} is new`);
    else if (now === undefined) changes.push(`${what} ${show(old)} is gone`);
    else changes.push(was(what, old, now));
  }
  return changes;
}

function grantChanges(before: ConsentGrants, after: ConsentGrants): string[] {
  const changes: string[] = [];
  if (before.subprocess !== after.subprocess) changes.push(asked("subprocess", after.subprocess));
  const [old, now] = [before.network, after.network];
  if (typeof old === "boolean" || typeof now === "boolean") {
    const changed = old !== now;
    if (changed && typeof old === "boolean" && typeof now === "boolean") changes.push(asked("network", now));
    else if (changed) changes.push(`network was ${network(old)}, is ${network(now)}`);
  } else {
    changes.push(...listChanges("network host", old, now));
  }
  return [
    ...changes,
    ...listChanges("write path", before.writePaths, after.writePaths),
    ...listChanges("read path", before.readPaths, after.readPaths),
  ];
}

function configChanges(before: ConsentKey["config"], after: ConsentKey["config"]): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].sort().flatMap((name) => {
    const [old, now] = [before[name], after[name]];
    if (old === now) return [];
    const how = old === undefined ? "is new" : now === undefined ? "is gone" : "changed";
    return [`config ${show(name)} ${how}`];
  });
}

/** What became different between the contents that two approvals are bound to. */
export function fileChanges(before: ConsentKey["files"], after: ConsentKey["files"]): string[] {
  const changes: string[] = [];
  for (const file of [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()) {
    const [old, now] = [before[file], after[file]];
    if (old === now) continue;
    if (old === undefined) changes.push(`file ${show(file)} is new`);
    else if (now === undefined) changes.push(`file ${show(file)} is gone`);
    else if (old.startsWith("-> ") || now.startsWith("-> ")) {
      changes.push(`what ${show(file)} leads to changed`);
    } else changes.push(`content of ${show(file)} changed`);
  }
  return changes;
}

function listChanges(what: string, before: readonly string[], after: readonly string[]): string[] {
  return [
    ...after.filter((value) => !before.includes(value)).map((value) => `${what} ${show(value)} is asked for`),
    ...before.filter((value) => !after.includes(value)).map((value) =>
      `${what} ${show(value)} is no longer asked for`
    ),
  ];
}

function asked(what: string, now: boolean): string {
  return `${what} is ${now ? "" : "no longer "}asked for`;
}

function network(value: ConsentGrants["network"]): string {
  if (typeof value === "boolean") return value ? "any host" : "none";
  return value.map((host) => show(host)).join(", ");
}

function was(what: string, before: string, after: string): string {
  return `${what} was ${show(before)}, is ${show(after)}`;
}

function show(value: string): string {
  return quote(value, LONGEST_VALUE);
}
