/** Why a decision hook cannot be asked at this URL; undefined when it can. Never repeats what may hold a secret. */
export function urlProblem(text: string): { message: string; fix?: string } | undefined {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return { message: "is not a URL", fix: "write https://host/path" };
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    return {
      message: `has the scheme ${url.protocol.slice(0, -1)}; only https, or http to this machine, is asked`,
    };
  }
  // The parser takes `https:host` for `https://host`, which is nobody's intention.
  if (!/^https?:\/\/[^/\\]/i.test(text)) return { message: "names no host", fix: "write https://host/path" };
  if (url.username !== "" || url.password !== "") {
    return { message: "holds a user name or password", fix: "use tokenEnv" };
  }
  if (url.hash !== "") return { message: "holds a fragment, which is never sent" };
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    return { message: "is http to another machine", fix: "use https; http is for this machine only" };
  }
  return undefined;
}

/** Whether a host of a parsed URL is this machine: `localhost`, 127.0.0.0/8 or ::1. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "localhost.localdomain" || hostname === "[::1]" ||
    /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
