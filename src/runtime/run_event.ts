import type { ComposerEvent } from "../composers/runner.ts";
import type { HookEvent } from "../hooks/ports.ts";
import type { SessionEvent } from "../session/events.ts";

/** What a front door is told while a session runs. */
export type RunEvent = SessionEvent | HookEvent | ComposedEvent;

/** What composers do. */
export type ComposedEvent = { type: "composer"; what: ComposerEvent };
