const MASK = "***";
/** Options whose value, behind `=` or in the next word, is a secret. */
const SECRET_OPTION =
  /^-{1,2}[A-Za-z0-9-]*(?:password|passwd|secret|token|api-?key|auth|credential)[A-Za-z0-9-]*$/i;
/** `NAME=value` with a name that says so. */
const SECRET_ASSIGNMENT =
  /^([A-Za-z0-9_.-]*(?:password|passwd|secret|token|api_?key|credential)[A-Za-z0-9_.-]*=)./i;
/** Texts that are secrets by their form: keys of well-known services, bearer headers, passwords in addresses. */
const SECRET_FORMS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}/g, MASK],
  [/\bgh[pousr]_[A-Za-z0-9]{20,}/g, MASK],
  [/\bxox[abprs]-[A-Za-z0-9-]{10,}/g, MASK],
  [/\bAKIA[0-9A-Z]{16}\b/g, MASK],
  [/\b(Bearer|Basic)\s+\S+/gi, `$1 ${MASK}`],
  [/(\w+:\/\/[^\s:/@]+):[^\s@/]+@/g, `$1:${MASK}@`],
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
    const option = equals === -1 ? word : word.slice(0, equals);
    if (SECRET_OPTION.test(option)) {
      if (equals !== -1) return `${option}=${MASK}`;
      next = true;
      return word;
    }
    const assignment = SECRET_ASSIGNMENT.exec(word)?.[1];
    if (assignment !== undefined) return assignment + MASK;
    return SECRET_FORMS.reduce((text, [form, by]) => text.replace(form, by), word);
  });
}
