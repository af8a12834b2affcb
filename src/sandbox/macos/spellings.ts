import { Buffer } from "node:buffer";

/** Symlinks at the root of every macOS, which point to the same name below /private. */
const LINKED_TO_PRIVATE = ["/var", "/tmp", "/etc"];
/** Where the writable volume shows a second time. */
const DATA_VOLUME = "/System/Volumes/Data";
/** The longest string that a profile may hold, in bytes. */
export const LONGEST_STRING = 1024;

/**
 * Every way in which one absolute path may be written when the kernel compares it: with and without /private, through the data
 * volume, with composed and decomposed letters. The first is the path itself.
 */
export function spellings(file: string): string[] {
  const plain = withoutPrivate(withoutVolume(file));
  const real = LINKED_TO_PRIVATE.some((folder) => lies(plain, folder)) ? `/private${plain}` : plain;
  const places = [file, plain, real, real === "/" ? DATA_VOLUME : DATA_VOLUME + real];
  return unique(places.flatMap((place) => [place, place.normalize("NFC"), place.normalize("NFD")]));
}

/** The folders above a path, the nearest first, up to the root. */
export function foldersAbove(file: string): string[] {
  const above: string[] = [];
  for (let rest = file; rest !== "/" && rest !== "";) {
    rest = rest.slice(0, Math.max(1, rest.lastIndexOf("/")));
    above.push(rest);
  }
  return above;
}

/** Why a path cannot stand in a profile, or undefined. */
export function whyUnspeakable(file: string): string | undefined {
  if (!file.startsWith("/")) return "it is not absolute";
  if (/\p{Cc}/u.test(file)) return "it has a control character";
  if (file !== file.toWellFormed()) return "it is not valid Unicode";
  const longest = Math.max(...spellings(file).map((place) => Buffer.byteLength(place)));
  return longest > LONGEST_STRING ? `it is longer than ${LONGEST_STRING} bytes` : undefined;
}

/** A string of a profile. The text must not be unspeakable. */
export function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, "\\$&")}"`;
}

/** A regular expression, as a profile writes it, of everything directly in a folder. */
export function directlyIn(folder: string): string {
  const literal = folder === "/" ? "" : folder.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  return `^${literal}/[^/]+$`;
}

function withoutVolume(file: string): string {
  if (file === DATA_VOLUME) return "/";
  return lies(file, DATA_VOLUME) ? file.slice(DATA_VOLUME.length) : file;
}

function withoutPrivate(file: string): string {
  const linked = LINKED_TO_PRIVATE.some((folder) => lies(file, `/private${folder}`));
  return linked ? file.slice("/private".length) : file;
}

function lies(file: string, folder: string): boolean {
  return file === folder || file.startsWith(`${folder}/`);
}

function unique(list: readonly string[]): string[] {
  return [...new Set(list)];
}
