/** A queue in an array that grows by doubling; both ends are cheap and nothing is allocated once it has grown. */
export interface Ring<T> {
  readonly length: number;
  push(item: T): void;
  /** Takes the oldest; undefined when empty. */
  shift(): T | undefined;
  clear(): void;
}

const FIRST_SIZE = 16;

export function createRing<T>(): Ring<T> {
  let slots: (T | undefined)[] = new Array(FIRST_SIZE).fill(undefined);
  let mask = FIRST_SIZE - 1;
  let head = 0;
  let length = 0;

  const grow = (): void => {
    const larger: (T | undefined)[] = new Array(slots.length * 2).fill(undefined);
    for (let index = 0; index < length; index++) larger[index] = slots[(head + index) & mask];
    slots = larger;
    mask = slots.length - 1;
    head = 0;
  };

  return {
    get length() {
      return length;
    },
    push(item) {
      if (length === slots.length) grow();
      slots[(head + length) & mask] = item;
      length += 1;
    },
    shift() {
      if (length === 0) return undefined;
      const item = slots[head];
      slots[head] = undefined;
      head = (head + 1) & mask;
      length -= 1;
      return item;
    },
    clear() {
      slots = new Array(FIRST_SIZE).fill(undefined);
      mask = FIRST_SIZE - 1;
      head = 0;
      length = 0;
    },
  };
}
