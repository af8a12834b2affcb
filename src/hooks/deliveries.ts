/** Pushes of the background lane that are on their way into an inbox. */
export interface Deliveries {
  track<T>(delivery: Promise<T>): Promise<T>;
  readonly busy: boolean;
  /** Undefined while few are on their way; else resolves when that is so again. */
  room(): Promise<void> | undefined;
  drained(): Promise<void>;
}

/** Most of them at a time. */
const MOST_UNDER_WAY = 256;

export function createDeliveries(limit = MOST_UNDER_WAY): Deliveries {
  let underWay = 0;
  let waiting: { most: number; wake: () => void }[] = [];

  const until = (most: number): Promise<void> => new Promise((wake) => waiting.push({ most, wake }));

  const settled = () => {
    underWay -= 1;
    if (waiting.length === 0) return;
    const roused = waiting.filter(({ most }) => underWay <= most);
    waiting = waiting.filter(({ most }) => underWay > most);
    for (const { wake } of roused) wake();
  };

  return {
    track(delivery) {
      underWay += 1;
      delivery.then(settled, settled);
      return delivery;
    },
    get busy() {
      return underWay > 0;
    },
    room: () => underWay < limit ? undefined : until(limit / 2),
    drained: () => underWay === 0 ? Promise.resolve() : until(0),
  };
}
