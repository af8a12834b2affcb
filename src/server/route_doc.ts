import { allRoutes } from "./app.ts";

/** The calls of the server for the manual, a heading and a row each. */
export function routeDocRows(): string[][] {
  const facts = { url: null, version: "", metrics: () => Promise.resolve({ type: "", text: "" }) };
  const rows = allRoutes(facts).map(({ method, path, needs, summary }) => [
    `\`${method} ${path}\``,
    needs.length === 0 ? "none" : needs.map((need) => `\`${need}\``).join(" and "),
    summary,
  ]);
  return [["call", "scope", "does"], ...rows];
}
