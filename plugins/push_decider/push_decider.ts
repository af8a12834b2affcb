import { numberField, quote, textField } from "../assemblyscript/json";
import { config, fail, input, output } from "../assemblyscript/reyn";

/**
 * For `exec_capture` at `turn_end`: has a turn that failed tried again, until `config.tries` (default 3) turns in a row came from
 * inside. `config.message` is what the session is told.
 */
export function run(): i32 {
  const event = input();
  const wanted = config("tries");
  const tries: f64 = wanted === null ? 3 : parseFloat(wanted);
  if (isNaN(tries)) return fail("config.tries must be a number");
  const driven = numberField(event, "hook_driven_turns");
  const told = config("message");
  const message: string = told === null ? "The last turn failed. Try it another way." : told;
  const isFailed = textField(event, "status") === "error";
  return output(
    `{"push_when": ${isFailed && driven < tries ? "true" : "false"}, "wake": true, "message": ${quote(message)}}`,
  );
}
