import { agentsSection } from "../agents/section.ts";
import { LAYERS, notYetSection } from "../config/section.ts";
import { hooksSection } from "../hooks/section.ts";
import type { SessionRef } from "../hooks/session_ref.ts";
import { modelSection } from "../model/section.ts";
import { sandboxSection } from "../sandbox/section.ts";
import { disabledSection } from "../session/disabled_section.ts";
import { resumeSection, safetySection, shutdownGraceSection } from "../session/sections.ts";
import { serverSection } from "./serve_section.ts";

/** Documented keys whose part does not exist yet: refused by name instead of ignored. */
const NOT_YET = [
  notYetSection("composers", "event correlation", LAYERS),
  notYetSection("permissions", "tools and permissions"),
  notYetSection("fs_watch", "file watching"),
  notYetSection("cron", "schedules"),
  notYetSection("mcp", "MCP"),
  notYetSection("pipelines", "pipelines"),
  notYetSection("webhooks", "webhooks"),
  notYetSection("external_transports", "webhooks"),
  notYetSection("skills", "skills"),
  notYetSection("tests", "configuration tests"),
];

/** Every top-level key of a configuration file. Hooks are compiled for one session. */
export function configSections(own: SessionRef) {
  const hooks = hooksSection(own);
  return {
    model: modelSection,
    safety: safetySection,
    agents: agentsSection,
    resume: resumeSection,
    shutdownGrace: shutdownGraceSection,
    sandbox: sandboxSection,
    server: serverSection,
    hooks,
    disabled: disabledSection,
    all: [
      modelSection,
      safetySection,
      agentsSection,
      resumeSection,
      shutdownGraceSection,
      sandboxSection,
      serverSection,
      hooks,
      disabledSection,
      ...NOT_YET,
    ],
  };
}
