import type { HookEvent } from "../hooks/ports.ts";
import type { SessionEvent } from "../session/events.ts";

/** What a front door is told while a session runs. */
export type RunEvent = SessionEvent | HookEvent;
