import { compileTemplate, type TemplateOptions } from "../../src/template/mod.ts";
import { type BenchRow, medianMicros } from "./measure.ts";

const variables = {
  point: "turn_end",
  agent_name: "default",
  user_text: "please look at the build and tell me why it fails",
  inputs: [{ path: "/repo/src/a.ts", event_type: "modified" }, {
    path: "/repo/src/b.ts",
    event_type: "created",
  }],
};

function rendering(source: string, options: TemplateOptions): number {
  const compiled = compileTemplate(source, options);
  if (!compiled.ok) throw new Error(compiled.error.message);
  return medianMicros(() => compiled.template.render(variables));
}

/** What rendering a hook's texts costs, beside joining the same texts by hand. */
export async function rows(): Promise<BenchRow[]> {
  const strict = { strict: true };
  const push = { strict: true, escapeValues: true };
  const plain = "text {{ agent_name }} text {{ user_text }}";
  const floor = medianMicros(() => ({
    ok: true,
    text: `text ${variables.agent_name} text ${variables.user_text}`,
  }));
  const choice =
    "{% if user_text is defined and user_text | length > 10 %}{{ user_text | upper }}{% else %}-{% endif %}";
  const loop = "{% for i in inputs %}{{ loop.index }}. {{ i.path }} ({{ i.event_type }})\n{% endfor %}";
  return [
    { name: "template: two variables", unit: "us", value: rendering(plain, strict), floor },
    { name: "template: two variables, escaped for a push", unit: "us", value: rendering(plain, push), floor },
    { name: "template: no variables", unit: "us", value: rendering("text", push) },
    { name: "template: a condition and filters", unit: "us", value: rendering(choice, push) },
    { name: "template: a loop over two maps", unit: "us", value: rendering(loop, push) },
    {
      name: "template: compiling two variables",
      unit: "us",
      value: medianMicros(() => compileTemplate(plain, strict), 500),
    },
  ];
}
