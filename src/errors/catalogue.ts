/**
 * Every code that reyn reports, with the severity it always has and one line of meaning. `reyn check --json`,
 * the log, the exit path and docs/errors.md share this table.
 */
export const CATALOGUE = {
  // Reading files
  E_FILE_UNREADABLE: { severity: "error", meaning: "a file could not be read" },
  E_FILE_NOT_REGULAR: { severity: "error", meaning: "a directory, device or socket stands where a file is expected" },
  E_FILE_TOO_LARGE: { severity: "error", meaning: "a file is larger than reyn reads" },
  E_FILE_ENCODING: { severity: "error", meaning: "a file is not UTF-8" },
  // YAML
  E_YAML_SYNTAX: { severity: "error", meaning: "the file is not YAML 1.2" },
  E_YAML_DUPLICATE_KEY: { severity: "error", meaning: "a key is given twice" },
  E_YAML_TAG: { severity: "error", meaning: "a tag that reyn does not know" },
  E_YAML_ALIAS: { severity: "error", meaning: "aliases that recurse or multiply beyond the limit" },
  E_YAML_DEPTH: { severity: "error", meaning: "the document is nested too deeply" },
  // Configuration
  E_CONFIG_TYPE: { severity: "error", meaning: "a value has the wrong type or is out of range" },
  E_CONFIG_MISSING: { severity: "error", meaning: "a required key is missing" },
  E_KEY_UNKNOWN: { severity: "error", meaning: "a key that reyn does not know" },
  E_KEY_NOT_YET: { severity: "error", meaning: "a key whose part of reyn does not exist yet" },
  E_KEY_LAYER: { severity: "error", meaning: "a key that this layer may not set" },
  E_ENV_UNSET: { severity: "error", meaning: "a ${NAME} whose variable is not set" },
  E_ENV_SYNTAX: { severity: "error", meaning: "a $ that is neither ${NAME}, ${NAME:-default} nor $$" },
  E_PROJECT_UNTRUSTED: { severity: "error", meaning: "a project file sets a key that needs the operator's trust" },
  W_LIST_REPLACED: { severity: "warning", meaning: "reyn.local.yaml replaces a list of reyn.yaml" },
  W_LAYER_SKIPPED: { severity: "warning", meaning: "a layer that could not be used was left out" },
  // Hooks
  E_HOOK_POINT: { severity: "error", meaning: "`on` names no point" },
  E_HOOK_SCHEME: { severity: "error", meaning: "a hook has no scheme, or more than one" },
  E_HOOK_RENAMED: { severity: "error", meaning: "a scheme of an older version, with its new form" },
  E_HOOK_NAME: { severity: "error", meaning: "a hook's name is malformed or taken" },
  E_HOOK_MATCHER: { severity: "error", meaning: "a matcher that can never match at its point" },
  E_HOOK_TEMPLATE: { severity: "error", meaning: "a template that does not compile or names what the point never has" },
  E_HOOK_ARGV: { severity: "error", meaning: "an exec argv that is empty, not static or not strings" },
  E_HOOK_KEY_SCHEME: { severity: "error", meaning: "a key that does not belong to the hook's scheme" },
  E_HOOK_NOT_YET: { severity: "error", meaning: "a scheme or point whose part of reyn does not exist yet" },
  E_HOOK_COMPOSED: { severity: "error", meaning: "a composed event that no composer emits" },
  E_HOOK_SESSION: { severity: "error", meaning: "a push to another session, which does not exist yet" },
  W_HOOK_GLOB: { severity: "warning", meaning: "a glob that matches otherwise than it looks" },
  W_HOOK_DISABLED_UNKNOWN: { severity: "warning", meaning: "`disabled` names no hook" },
  W_SAFETY_ASK_USER: { severity: "warning", meaning: "`on_limit: ask_user` acts as `warn`" },
  W_MODEL_ECHO: { severity: "warning", meaning: "no model is configured, so turns are echoed" },
  // Running
  E_USAGE: { severity: "error", meaning: "the command line is wrong" },
  E_VERB_NOT_YET: { severity: "error", meaning: "a command whose part of reyn does not exist yet" },
  E_ALREADY_RUNNING: { severity: "error", meaning: "another reyn holds this state folder" },
  E_AGENT_UNKNOWN: { severity: "error", meaning: "an agent that is not declared" },
  E_SESSION_NAME: { severity: "error", meaning: "a session id that is malformed" },
  E_SESSION_UNKNOWN: { severity: "error", meaning: "no such session" },
  E_MESSAGE_TOO_LARGE: { severity: "error", meaning: "a message is larger than a session takes" },
  E_INBOX_FULL: { severity: "error", meaning: "the session's inbox takes no more waking messages" },
  E_MODEL_FAILED: { severity: "error", meaning: "the model driver failed" },
  E_MODEL_TIMEOUT: { severity: "error", meaning: "the model did not answer in time" },
  E_MODEL_OUTPUT: { severity: "error", meaning: "the model's answer is too long or unusable" },
  E_STATE_FILESYSTEM: { severity: "error", meaning: "the state folder lies on a network file system" },
  E_STATE_NEWER: { severity: "error", meaning: "the store was written by a newer reyn" },
  E_STATE_CORRUPT: { severity: "error", meaning: "the store is damaged; it was set aside" },
  E_STATE_FULL: { severity: "error", meaning: "the disk of the state folder is full" },
  E_STATE_IO: { severity: "error", meaning: "the store could not be read or written" },
  E_INTERNAL: { severity: "error", meaning: "a fault in reyn itself" },
} as const satisfies Record<string, { severity: "error" | "warning"; meaning: string }>;

export type ErrorCode = keyof typeof CATALOGUE;
