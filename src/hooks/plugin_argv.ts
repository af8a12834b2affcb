/** `argv[0]` of a plugin: a module, and behind `#` the export that is called. */
const PLUGIN = /^(.*\.wasm)(?:#([A-Za-z0-9_.-]+))?$/s;
/** What nobody writes who does not mean a plugin. */
const MEANT = /\.wasm\s*(?:#|$)/i;

/** The module and the export that `argv[0]` names; undefined for a program. The export is undefined where none is named. */
export function pluginArgv(
  word: string | undefined,
): { file: string; export: string | undefined } | undefined {
  const [, file, name] = PLUGIN.exec(word ?? "") ?? [];
  return file === undefined ? undefined : { file, export: name };
}

/** Whether `argv[0]` is meant to name a plugin, and names none. */
export function isMisspelt(word: string | undefined): boolean {
  return word !== undefined && MEANT.test(word) && !PLUGIN.test(word);
}
