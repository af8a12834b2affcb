import { type ListSection, listSection } from "../config/section.ts";
import { quote } from "../errors/quote.ts";
import type { SessionRef } from "../hooks/session_ref.ts";
import { findCircle } from "./combine.ts";
import { compileComposer } from "./compile.ts";
import { feedGraph } from "./cycles.ts";
import type { DeclaredComposer } from "./declared.ts";
import { parseKind } from "./kinds.ts";
import { type ComposerEntry, composerSchema } from "./schema.ts";

/**
 * The `composers:` list of every layer, compiled for one session. `onEmits` is told of each composed event that an entry
 * emits, also of one that cannot be used.
 */
export function composersSection(
  own: SessionRef,
  onEmits: (kind: string) => void = () => {},
): ListSection<ComposerEntry, DeclaredComposer[]> {
  return listSection<ComposerEntry, DeclaredComposer[]>({
    key: "composers",
    item: composerSchema,
    compile(items, context) {
      const names = new Map<string, number>();
      const composers: DeclaredComposer[] = [];
      const graph = feedGraph<DeclaredComposer>();
      for (const { index, value } of items) {
        const name = value.name.trim();
        const first = names.get(name);
        if (first === undefined) names.set(name, index);
        else {
          const message = `the name ${quote(name)} is taken by composers[${first}]`;
          context.report([index, "name"], "E_COMPOSER_NAME", message);
        }
        const emits = parseKind(value.emit?.kind ?? `composed:${name}`, own);
        if (emits.ok) onEmits(emits.input.kind);
        const composer = compileComposer(value, index, context, own);
        if (!composer) continue;
        const circle = findCircle(graph, composer);
        if (circle) context.report(circle.path, "E_COMPOSER_CYCLE", circle.message);
        else {
          graph.add(composer);
          composers.push(composer);
        }
      }
      return composers;
    },
  });
}
