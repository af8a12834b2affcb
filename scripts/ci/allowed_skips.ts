/** Unit tests that may be skipped, by full name, with the reason; any other skipped test is a failure. */
export const ALLOWED_SKIPS: Readonly<Record<string, string>> = {
  "reading a configuration file > names a file that it may not read": "root may read every file",
};
