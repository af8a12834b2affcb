/** Bounds of one call of a plugin. Each one that is exceeded ends the call with an outcome of its own. */
export interface PluginLimits {
  /** From the moment the call is asked for, waiting included; on the clock. */
  timeoutMs: number;
  /** The guest's memory, and besides it as much again for what it exchanges with the host. Bytes. */
  memoryBytes: number;
  inputBytes: number;
  /** 0: the output is dropped in the child, however much it is. */
  outputBytes: number;
  logLines: number;
  logBytes: number;
  /** Calls of host functions, those excepted that only move bytes. */
  hostCalls: number;
}

const KIB = 1024;
const MIB = 1024 * KIB;

export const DEFAULT_PLUGIN_LIMITS: PluginLimits = {
  timeoutMs: 60_000,
  memoryBytes: 64 * MIB,
  inputBytes: 16 * MIB,
  outputBytes: MIB,
  logLines: 1000,
  logBytes: 256 * KIB,
  hostCalls: 100_000,
};

/** Largest module, in bytes. */
export const MOST_MODULE_BYTES = 32 * MIB;
/** Most guest memory that a hook may ask for. */
export const MOST_MEMORY_BYTES = 1024 * MIB;
/** Most that one hook keeps in variables: names and values, in bytes. */
export const MOST_VARIABLE_BYTES = MIB;
/** Most variables of one hook. */
export const MOST_VARIABLES = 1000;
/** Largest answer to a request over the network. */
export const MOST_HTTP_BYTES = 8 * MIB;
/** What is kept of a plugin's log, for whoever watches: its end. */
export const KEPT_LOG_BYTES = 8 * KIB;
/** Longest error text of a plugin, in characters. */
export const MOST_ERROR_TEXT = 2000;
/** A page of guest memory. */
export const PAGE_BYTES = 64 * KIB;
/** Most entries of a table, and of all tables of a module as they begin. */
export const MOST_TABLE_ENTRIES = 1_000_000;
export const MOST_TABLES = 8;
/** Parts of a module. They are read where everything else waits. */
export const MOST_SECTIONS = 1000;
export const MOST_TYPES = 10_000;
export const MOST_IMPORTS = 1000;
export const MOST_FUNCTIONS = 100_000;
export const MOST_EXPORTS = 10_000;
/** Largest body of a request over the network, and of whatever else a plugin hands over. */
export const MOST_BODY_BYTES = 16 * MIB;
/** Most characters of all headers of a request. */
export const MOST_HEADER_CHARACTERS = 64 * KIB;
/** What a block costs that the host holds for a plugin, besides its bytes: else it could hold any number of empty ones. */
export const BLOCK_COST_BYTES = KIB;
