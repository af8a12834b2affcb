import type { Finding } from "../errors/finding.ts";
import { ReynError } from "../errors/reyn_error.ts";

/** The declaration of decision hooks cannot be used; the findings name each entry and its place. */
export class HooksConfigError extends ReynError {
  override readonly name: string = "HooksConfigError";

  constructor(file: string, findings: readonly Finding[]) {
    super(findings[0]?.code ?? "E_CONFIG_TYPE", `the decision hooks of ${file} cannot be used`, { findings });
  }
}
