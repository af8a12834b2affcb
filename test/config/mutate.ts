/** Characters that mean something to a YAML reader, or to a terminal. */
export const ALPHABET = " \n\t:-[]{},&*!|>'\"%@`#?~<.0aé$\u0000\u001b\ufeff\u202e";

/** Whole numbers below a bound from a seed, so that a failure can be had again. */
export function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Gives a differently damaged copy of the text at each call. */
export function mutator(seed: number, text: string): () => string {
  const below = random(seed);
  return () => {
    const chars = text.split("");
    for (let edits = 1 + below(6); edits > 0; edits--) {
      const at = below(chars.length);
      const piece = ALPHABET[below(ALPHABET.length)] ?? " ";
      const kind = below(4);
      if (kind === 0) chars.splice(at, 1 + below(20));
      else if (kind === 1) chars.splice(at, 0, piece.repeat(1 + below(3)));
      else if (kind === 2) chars[at] = piece;
      else chars.splice(at, 0, ...chars.slice(below(chars.length)).slice(0, 30));
    }
    return chars.join("");
  };
}
