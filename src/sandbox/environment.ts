/** Where bare program names are looked up, and the PATH that hooks get: the same wherever reyn was started from. */
export const FIXED_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Taken over from reyn's own environment when set there. */
const LOCALE_NAMES = ["LANG", "LC_ALL", "TZ"];

/** Taken over for hooks with `network`: how to get out, and whom to trust there. */
const NETWORK_NAMES = [
  ...["http_proxy", "https_proxy", "all_proxy", "no_proxy"].flatMap((name) => [name, name.toUpperCase()]),
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "CURL_CA_BUNDLE",
  "REQUESTS_CA_BUNDLE",
  "GIT_SSL_CAINFO",
  "NODE_EXTRA_CA_CERTS",
  "DENO_CERT",
];

export interface HookEnvironmentOptions {
  /** reyn's own environment. */
  source: Readonly<Record<string, string | undefined>>;
  /** The account that reyn runs as; used where the source has no HOME or USER. */
  account: { home: string; name: string };
  controlDir: string;
  hook: string;
  point: string;
  /** `<agent>/<sid>` */
  session: string;
  firingId: string;
  network: boolean;
  /** The names that the hook's `env` lists; one that is not set is left out. */
  names: readonly string[];
}

/** The whole environment of an exec hook; nothing else is passed. */
export function hookEnvironment(options: HookEnvironmentOptions): Record<string, string> {
  const { source, account } = options;
  const taken = [...LOCALE_NAMES, ...(options.network ? NETWORK_NAMES : []), ...options.names];
  const env: Record<string, string> = {
    PATH: FIXED_PATH,
    HOME: source["HOME"] || account.home,
    USER: source["USER"] || account.name,
  };
  for (const name of taken) {
    const value = source[name];
    if (value !== undefined) env[name] = value;
  }
  // Last, so that nothing can stand in for them.
  return {
    ...env,
    REYN_CONTROL_DIR: options.controlDir,
    REYN_HOOK: options.hook,
    REYN_POINT: options.point,
    REYN_SESSION: options.session,
    REYN_FIRING_ID: options.firingId,
  };
}
