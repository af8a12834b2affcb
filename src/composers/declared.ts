import type { Layer, Path } from "../config/section.ts";
import type { Composer } from "./composer.ts";
import type { InputKind } from "./kinds.ts";

/** A composer as one layer declares it, with what only a look at all layers can judge. */
export interface DeclaredComposer {
  name: string;
  layer: Layer;
  /** Position in its layer's list. */
  index: number;
  emits: string;
  /** Every kind that it waits for, in whatever role, with where that stands in its entry. */
  consumes: readonly { input: InputKind; path: Path }[];
  composer: Composer;
}
