/** Characters that JSON leaves as they are and that a terminal would hide or obey. */
const HIDDEN = /[\p{Cf}\p{Zl}\p{Zp}\x7f-\x9f]/gu;

/** A whole file: indented JSON in which nothing is hidden from whoever looks at it in a terminal. */
export function listText(elements: readonly unknown[]): string {
  return `${visibleJson(elements, 2)}\n`;
}

/** JSON that reads as what it is, safe to show. */
export function visibleJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(HIDDEN, jsonEscapes);
}

function jsonEscapes(char: string): string {
  const units = Array.from({ length: char.length }, (_, i) => char.charCodeAt(i));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}
