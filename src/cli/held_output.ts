/** Most characters that are kept back; beyond, whoever holds is told, and all of it is written. */
const MOST_HELD = 1024 * 1024;

/**
 * What a run writes while a question may stand on the same terminal. Nothing comes between a question and its answer, so that
 * nobody else's text can pass for part of it.
 */
export interface HeldOutput {
  /** A writer whose text waits while something is held. */
  writer(write: (text: string) => void): (text: string) => void;
  /** Keeps everything back until `release`. `overflow` is called when too much waits; it is written then. */
  hold(overflow: () => void): void;
  release(): void;
}

export function heldOutput(): HeldOutput {
  let overflow: (() => void) | undefined;
  let waiting: (() => void)[] = [];
  let chars = 0;

  const release = () => {
    const written = waiting;
    overflow = undefined;
    waiting = [];
    chars = 0;
    for (const write of written) write();
  };

  return {
    writer: (write) => (text) => {
      if (overflow === undefined) return write(text);
      waiting.push(() => write(text));
      chars += text.length;
      if (chars <= MOST_HELD) return;
      const tell = overflow;
      release();
      tell();
    },
    hold(onOverflow) {
      overflow = onOverflow;
    },
    release,
  };
}
