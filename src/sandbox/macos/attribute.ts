import { type DenialFacts, explainDenial } from "../denial.ts";
import type { Denial } from "../result.ts";

/** How programs complain that a process could not be started. */
const FORK =
  /\b(?:v?fork|posix_spawnp?|spawn(?:Sync)?|subprocess|can't start new process)\b.*(?:operation not permitted|EPERM|\[Errno 1\])/i;
/** That a connection could not be made: by the call, or by the name that was not found. */
const NETWORK = [
  /\b(?:connect|connection|socket|bind|listen|sendto|network|route|curl)\b.*(?:operation not permitted|EPERM|\[Errno 1\])/i,
  /could not resolve host|nodename nor servname provided|temporary failure in name resolution|\bENOTFOUND\b|\bEAI_[A-Z]+\b/i,
  /\bfailed to connect to\b|network is unreachable/i,
];
/** Lines of stderr that are looked at, from the end. */
const MOST_LINES = 40;
const LONGEST_LINE = 2000;

/**
 * Why a run that failed was stopped by its sandbox, or null. Seatbelt counts nothing, so all of it is told by what the program wrote
 * to stderr.
 */
export function attributeDenial(facts: Omit<DenialFacts, "denied">): Denial | null {
  const { subprocess, network } = facts.policy.grants;
  const lines = facts.stderrTail.split("\n").slice(-MOST_LINES).map((line) => line.slice(0, LONGEST_LINE));
  if (!subprocess && lines.some((line) => FORK.test(line))) {
    return heuristic("fork_denied", "it seems to have tried to start a process", "subprocess");
  }
  const byPath = explainDenial({ ...facts, denied: null });
  if (byPath) return byPath;
  if (!network && lines.some((line) => NETWORK.some((pattern) => pattern.test(line)))) {
    return heuristic("network_denied", "it seems to have tried to use the network", "network");
  }
  return null;
}

function heuristic(denialClass: Denial["class"], what: string, key: "subprocess" | "network"): Denial {
  const message = `${what}, with ${key}: false in force (${key}: true on the hook opens it)`;
  return { class: denialClass, attribution: "heuristic", message };
}
