import { constants } from "node:os";

const NUMBERS: Readonly<Record<string, number>> = constants.signals;

export function signalNumber(name: string): number | undefined {
  return NUMBERS[name];
}

/** What a shell would show: the exit code, or 128+n after signal n. */
export function shellCode(code: number | null, signal: string | null): number {
  return code ?? 128 + (signalNumber(signal ?? "") ?? 0);
}
