/**
 * The SDK of decision hooks: code of the operator's own that is asked before a step of a work item's delivery is taken.
 * A hook extends `LifecycleHooks` and is declared in `cli-config.yaml`, either by the file or package that exports it, or
 * by the URL at which `HookServer` (or `handleRequest` in a server of one's own) serves it.
 *
 * ```ts
 * import { LifecycleHooks, type SessionSpawn } from "reyn/hooks";
 *
 * export default class Polite extends LifecycleHooks {
 *   override session_spawn(ctx: SessionSpawn) {
 *     return { prompt: `${ctx.prompt}\nBe polite.` };
 *   }
 * }
 * ```
 *
 * A file that cannot import `reyn/hooks` exports a function instead, which is given this module:
 * `export default (sdk) => class extends sdk.LifecycleHooks { … }`.
 *
 * @module
 */
export * from "./src/points/sdk/mod.ts";
