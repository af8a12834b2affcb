export { compileGlob, globWarning } from "./glob.ts";
export { compileMatcher, GLOB_FIELDS, type Matcher } from "./matcher.ts";
