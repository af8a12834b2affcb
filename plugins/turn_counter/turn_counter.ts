import { quote, textField } from "../assemblyscript/json";
import { config, fail, input, output, setVariable, variable } from "../assemblyscript/reyn";

/**
 * For `exec_capture` at `turn_end`: counts the turns of each agent in a variable, and puts a note into the session at every n-th, where
 * n is `config.every` (default 10). The count begins anew when reyn starts.
 */
export function run(): i32 {
  const wanted = config("every");
  const every = wanted === null ? 10 : <i64>parseInt(wanted);
  if (every < 1) return fail("config.every must be a number from 1 on");

  const agent = textField(input(), "agent_name");
  const name = `turns:${agent}`;
  const before = variable(name);
  const count: i64 = (before === null ? 0 : I64.parseInt(before)) + 1;
  setVariable(name, count.toString());

  const isDue = count % every === 0;
  const message = `${count.toString()} turns of ${agent} since reyn started.`;
  return output(`{"push_when": ${isDue ? "true" : "false"}, "wake": false, "message": ${quote(message)}}`);
}
