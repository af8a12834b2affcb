import type { Confinement } from "../../../src/sandbox/macos/profile.ts";
import { type Form, headOf, printForm, readForms } from "../../../src/sandbox/macos/reader.ts";

export interface Mutant {
  name: string;
  text: string;
}

/** Every way in which one denial says less, or the opposite; or in which an allowance is missing, opposite or without conditions. */
export function changedRules(profile: string, action: "allow" | "deny"): Mutant[] {
  const read = readForms(profile);
  if (!read.ok) throw new Error(read.reason);
  const { forms } = read;
  const mutants: Mutant[] = [];
  forms.forEach((form, index) => {
    const head = headOf(form);
    if (form.kind !== "list" || head !== action) return;
    const put = (name: string, ...instead: Form[]) =>
      mutants.push({
        name: `${name}: ${printForm(form).slice(0, 80)}`,
        text: forms.flatMap((other, at) => at === index ? instead : [other]).map(printForm).join("\n"),
      });
    const withItems = (items: Form[]): Form => ({ ...form, items });
    put("leave out");
    const opposite: Form = { kind: "symbol", text: action === "allow" ? "deny" : "allow", line: form.line };
    put("turn round", withItems([opposite, ...form.items.slice(1)]));
    const conditions = form.items.filter((item) => item.kind === "list");
    if (action === "allow") {
      if (conditions.length > 0) {
        put("no conditions", withItems(form.items.filter((item) => item.kind !== "list")));
      }
      return;
    }
    form.items.slice(1).forEach((item, at) => {
      if (form.items.length <= 2 || (item.kind === "list" && conditions.length === 1)) return;
      put(
        `without ${printForm(item).slice(0, 60)}`,
        withItems(form.items.filter((_, other) => other !== at + 1)),
      );
    });
  });
  return mutants;
}

/** Mistakes that one makes when writing profiles. */
export function knownMistakes(profile: string, { denied }: Confinement): Mutant[] {
  const [secret = ""] = denied;
  const replace = (name: string, from: string | RegExp, to: string): Mutant => ({
    name,
    text: profile.replace(from, () => to),
  });
  const append = (name: string, text: string): Mutant => ({ name, text: `${profile}${text}\n` });
  return [
    replace("an open default", "(deny default)", "(allow default)"),
    replace("no default", "(deny default)\n", ""),
    append("a second default", "(allow default)"),
    replace("no version", "(version 1)\n", ""),
    replace("another version", "(version 1)", "(version 3)"),
    replace("an import", "(deny default)", '(deny default)\n(import "bsd.sb")'),
    append("an allowance at the end", `(allow file-read-data (subpath "${secret}"))`),
    append("an allowance of what is denied anyway", "(allow process-fork)"),
    append("the network at the end", '(allow network-outbound (remote ip "*:*"))'),
    append("all writing", "(allow file-write*)"),
    replace("the root as a grant", "(allow file-map-executable)", '(allow file-write* (subpath "/"))'),
    replace("no sandbox for some", "(allow process-exec*)", "(allow process-exec* (with no-sandbox))"),
    replace("an operation that is not there", "(allow file-read*)", "(allow file-read)"),
    replace("an open lookup of services", /\(allow mach-lookup[^]*?\)\)/, "(allow mach-lookup)"),
    replace("the environment of others", '"kern.argmax"', '"kern.procargs2"'),
    replace("signals to everyone", /\(allow signal \(target [a-z-]+\)\)/, "(allow signal (target others))"),
    replace("a misspelt filter", `(subpath "${secret}")`, `(subpth "${secret}")`),
    replace("a folder without what is in it", `(subpath "${secret}")`, `(literal "${secret}")`),
    replace("a path with dots", `"${secret}"`, `"${secret}/../.ssh"`),
    replace("a path with a slash at its end", `"${secret}"`, `"${secret}/"`),
    replace("a relative path", `"${secret}"`, `"~/.ssh"`),
    replace("a string that ends early", `"${secret}"`, `"${secret}" (allow default) "`),
    replace("a string that does not end", `"${secret}"`, `"${secret}`),
    replace("a string that is too long", `"${secret}"`, `"${secret}/${"x".repeat(1100)}"`),
    replace("a control character", `"${secret}"`, `"${secret}\u0007"`),
    replace("an expression that is not anchored", '(regex "^/Users', '(regex "/Users'),
    replace("an expression with a dot for any letter", "\\\\.docker", ".docker"),
    replace("a parenthesis too few", /\)\n*$/, "\n"),
    append("a parenthesis too many", ")"),
    append("a form that is no rule", '(define x "y")'),
    append("only some names of a family", `(deny file-read* (subpath "${secret}"))`),
    {
      name: "denials before allowances",
      text: `(version 1)\n(deny default)\n${profile.slice(profile.indexOf("; from here"))}${
        profile.slice(profile.indexOf("; one program"), profile.indexOf("; from here"))
      }`,
    },
  ];
}
