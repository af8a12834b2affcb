/** A firing by hand. */
export interface FireOnce {
  key: string;
  /** Its name on the bus. A composed event's hooks run from there. */
  kind: string;
  /** Told apart from every other firing. */
  id: string;
  payload: Readonly<Record<string, unknown>>;
}
