import { agentsSection } from "../agents/section.ts";
import { composersSection } from "../composers/section.ts";
import { testsSection } from "../composers/testing/section.ts";
import { notYetSection } from "../config/section.ts";
import { type ComposedHook, hooksSection } from "../hooks/section.ts";
import type { SessionRef } from "../hooks/session_ref.ts";
import { modelSection } from "../model/section.ts";
import { sandboxSection } from "../sandbox/section.ts";
import { disabledSection } from "../session/disabled_section.ts";
import { resumeSection, safetySection, shutdownGraceSection } from "../session/sections.ts";
import { serverSection } from "./serve_section.ts";

/** Documented keys whose part does not exist yet: refused by name instead of ignored. */
const NOT_YET = [
  notYetSection("permissions", "tools and permissions"),
  notYetSection("fs_watch", "file watching"),
  notYetSection("cron", "schedules"),
  notYetSection("mcp", "MCP"),
  notYetSection("pipelines", "pipelines"),
  notYetSection("webhooks", "webhooks"),
  notYetSection("external_transports", "webhooks"),
  notYetSection("skills", "skills"),
];

/** Every top-level key of a configuration file. Hooks are compiled for one session. */
export function configSections(own: SessionRef) {
  const composedHooks: ComposedHook[] = [];
  const hooks = hooksSection(own, (hook) => composedHooks.push(hook));
  const declaredKinds = new Set<string>();
  const composers = composersSection(own, (kind) => declaredKinds.add(kind));
  return {
    model: modelSection,
    safety: safetySection,
    agents: agentsSection,
    resume: resumeSection,
    shutdownGrace: shutdownGraceSection,
    sandbox: sandboxSection,
    server: serverSection,
    hooks,
    composers,
    /** Hooks at composed events, once the sections have been loaded. */
    composedHooks,
    /** What composers emit, those with errors included, likewise. */
    declaredKinds,
    disabled: disabledSection,
    tests: testsSection,
    all: [
      modelSection,
      safetySection,
      agentsSection,
      resumeSection,
      shutdownGraceSection,
      sandboxSection,
      serverSection,
      hooks,
      composers,
      testsSection,
      disabledSection,
      ...NOT_YET,
    ],
  };
}
