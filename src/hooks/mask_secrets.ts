const MASK = "***";
/** In the name of an option (`--api-key`) or of an assignment (`NAME=value`): its value is a secret. */
const SECRET_OPTION = /password|passwd|secret|token|api-?key|auth|credential/i;
const SECRET_NAME = /password|passwd|secret|token|api_?key|credential/i;
/** Each is asked apart, since an argv may be long: a pattern that looks for both at once takes time by the square of it. */
const OPTION = /^-{1,2}[A-Za-z0-9-]+$/;
const NAME = /^[A-Za-z0-9_.-]+$/;
/** Texts that are secrets by their form: keys of well-known services, bearer headers, passwords in addresses. */
const SECRET_FORMS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}/g, MASK],
  [/\bgh[pousr]_[A-Za-z0-9]{20,}/g, MASK],
  [/\bxox[abprs]-[A-Za-z0-9-]{10,}/g, MASK],
  [/\bAKIA[0-9A-Z]{16}\b/g, MASK],
  [/\b(Bearer|Basic)\s+\S+/gi, `$1 ${MASK}`],
  [/(\b\w+:\/\/[^\s:/@]+):[^\s@/]+@/g, `$1:${MASK}@`],
];

/** An argv as it may be logged: values that are secrets by their option, name or form are masked. */
export function maskSecrets(argv: readonly string[]): string[] {
  let next = false;
  return argv.map((word) => {
    if (next && !word.startsWith("-")) {
      next = false;
      return MASK;
    }
    next = false;
    const equals = word.indexOf("=");
    const name = equals === -1 ? word : word.slice(0, equals);
    if (OPTION.test(name) && SECRET_OPTION.test(name)) {
      if (equals !== -1) return `${name}=${MASK}`;
      next = true;
      return word;
    }
    const isAssigned = equals !== -1 && equals + 1 < word.length;
    if (isAssigned && NAME.test(name) && SECRET_NAME.test(name)) return `${name}=${MASK}`;
    return SECRET_FORMS.reduce((text, [form, by]) => text.replace(form, by), word);
  });
}
