/** Longest session id, in characters: it is a folder name. */
const SESSION_NAME = /^[A-Za-z0-9_@+][A-Za-z0-9_.:@+-]{0,127}$/;

/** Whether a text can be the `<sid>` of a session: `main`, `cron:nightly`, `slack:U1`. */
export function isSessionName(text: string): boolean {
  return SESSION_NAME.test(text);
}
