import path from "node:path";

/**
 * Programs that run what a file says, whatever the file is called; and the options behind which the code stands in the argv
 * itself, so that what follows is arguments to it.
 */
const INTERPRETERS: readonly (readonly [name: RegExp, inline: RegExp])[] = [
  [/^(?:ba|da|z|k|mk|a|fi|r|pw)?sh[\d.]*$/i, /^(?:-[a-z]*c|--command|-Command)$/],
  [/^(?:(?:i|micro)?python|pypy)[\d.]*$/i, /^(?:-[A-Za-z]*c|-m)$/],
  [/^(?:perl|j?ruby)[\d.]*$/i, /^-[A-Za-z]*[eE]$/],
  [/^(?:node(?:js)?|deno|bun)[\d.]*$/i, /^(?:-e|-p|-pe|--eval|--print|eval)$/],
  [/^php(?:-cgi)?[\d.]*$/i, /^-r$/],
  [/^(?:lua(?:jit)?|tclsh|expect|rscript|julia|guile|java|groovy|osascript)[\d.]*$/i, /^(?:-e|--eval)$/],
];

/** Programs whose script is the value of `-f`, and whose other files are data. */
const TAKES_SCRIPT_BY_F = /^(?:[gmn]?awk|g?sed|g?make|jq|bc)$/i;

/** Programs that start the program which stands further on in their argv. */
const WRAPPER =
  /^(?:env|nice|ionice|nohup|timeout|setsid|stdbuf|xargs|time|chrt|taskset|busybox|toybox|flock|unshare)$/;

/** Options with a value of their own, which is a file to run first or to read settings from. */
const TAKES_VALUE =
  /^(?:--rcfile|--init-file|[-+]O|[-+]o|-W|-X|-I|-r|--require|--import|--preload|--loader|--experimental-loader|--config|--env-file)$/;

/**
 * The words of an argv that an interpreter is given to run: what `sh FILE`, `env python3 FILE` and `awk -f FILE` name. `isFile`
 * tells which words name files. What follows the script is data.
 */
export function interpretedFiles(argv: readonly string[], isFile: (word: string) => boolean): string[] {
  const [program = "", ...words] = argv;
  const name = path.basename(program);
  const inline = inlineOf(name);
  if (inline) return scriptOf(words, inline, isFile);
  if (TAKES_SCRIPT_BY_F.test(name)) {
    return words.flatMap((word, i) => {
      if (word === "-f" || word === "--file" || word === "--from-file") return words.slice(i + 1, i + 2);
      const joined = /^(?:-f|--file=|--from-file=)(.+)$/s.exec(word)?.[1];
      return joined === undefined ? [] : [joined];
    }).filter(isFile);
  }
  if (!WRAPPER.test(name)) return [];
  const inner = words.findIndex((word) => {
    const base = path.basename(word);
    return inlineOf(base) !== undefined || TAKES_SCRIPT_BY_F.test(base);
  });
  return inner === -1 ? [] : interpretedFiles(words.slice(inner), isFile);
}

function inlineOf(name: string): RegExp | undefined {
  return INTERPRETERS.find(([pattern]) => pattern.test(name))?.[1];
}

function scriptOf(words: readonly string[], inline: RegExp, isFile: (word: string) => boolean): string[] {
  const code: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? "";
    if (inline.test(word)) break;
    if (TAKES_VALUE.test(word)) {
      const value = words[++i];
      if (value !== undefined && isFile(value)) code.push(value);
    } else if (isFile(word)) {
      code.push(word);
      break;
    }
  }
  return code;
}
