import { didYouMean } from "../config/suggest.ts";
import type { Path } from "../config/section.ts";
import type { ErrorCode } from "../errors/catalogue.ts";
import { quote } from "../errors/quote.ts";
import { type FeedGraph, feedGraph } from "./cycles.ts";
import type { DeclaredComposer } from "./declared.ts";
import { type InputKind, SENT_PREFIXES } from "./kinds.ts";

/** Something that only a look at other composers tells; the path begins with the composer's index in its list. */
export interface CombineFinding {
  path: Path;
  code: ErrorCode;
  message: string;
  fix?: string;
}

/** What a composer would close: composers that feed one another in a circle, through any of their inputs. */
export function findCircle(
  before: FeedGraph<DeclaredComposer>,
  composer: DeclaredComposer,
): { path: Path; message: string } | undefined {
  const circle = before.circleOf(composer);
  if (!circle) return undefined;
  const last = circle.at(-1)?.emits;
  const closing = composer.consumes.find(({ input }) => input.kind === last);
  const path = [composer.index, ...(closing?.path ?? [])];
  if (circle.length === 1) {
    return { path, message: `${quote(composer.name)} waits for the event that it emits itself` };
  }
  const names = [...circle, composer].map(({ name }) => name).join(" -> ");
  return { path, message: `composers feed one another in a circle: ${names}` };
}

/** Holds one layer's composers against those of the layers before it: taken names and circles. */
export function checkAgainst(
  before: readonly DeclaredComposer[],
  added: readonly DeclaredComposer[],
): CombineFinding[] {
  const found: CombineFinding[] = [];
  const known = feedGraph<DeclaredComposer>();
  for (const composer of before) known.add(composer);
  const names = new Map(before.map((composer) => [composer.name, composer]));
  for (const composer of added) {
    const taken = names.get(composer.name);
    if (taken) {
      const where = `composers[${taken.index}] of the ${taken.layer} layer`;
      const message = `the name ${quote(composer.name)} is taken by ${where}`;
      found.push({ path: [composer.index, "name"], code: "E_COMPOSER_NAME", message });
    }
    const circle = findCircle(known, composer);
    if (circle) found.push({ ...circle, code: "E_COMPOSER_CYCLE" });
    else known.add(composer);
  }
  return found;
}

/** Inputs at composed events that no composer emits, and at events from outside that nobody may send. */
export function unsentInputs(
  composers: readonly DeclaredComposer[],
  emitted: ReadonlySet<string>,
  isSent: (kind: string) => boolean,
): CombineFinding[] {
  const problemOf = (input: InputKind): { message: string; fix?: string } | undefined => {
    const { kind } = input;
    if (input.type === "composed" && !emitted.has(kind)) {
      const near = didYouMean(kind, emitted);
      return { message: `no composer emits ${kind}`, ...(near === undefined ? {} : { fix: near }) };
    }
    if (input.type !== "open" || !SENT_PREFIXES.includes(input.prefix) || isSent(kind)) return undefined;
    const [, name = ""] = kind.split(":");
    const fix = input.prefix === "http"
      ? `a token called ${name} needs the scope emit:http:${name}:`
      : `a token needs the scope emit:${input.prefix}:${name}`;
    return { message: `no token of \`server.tokens\` may send events of the kind ${kind}`, fix };
  };
  return composers.flatMap(({ index, consumes }) =>
    consumes.flatMap(({ input, path }): CombineFinding[] => {
      const problem = problemOf(input);
      return problem ? [{ path: [index, ...path], code: "W_COMPOSER_SOURCE", ...problem }] : [];
    })
  );
}
