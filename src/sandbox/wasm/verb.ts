/** The hidden verb by which reyn starts itself as a process that runs plugins. */
export const PLUGIN_VERB = "__plugin-host";
