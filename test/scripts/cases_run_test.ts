import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { after, before, describe, it } from "node:test";
import { type Bench, makeBench } from "./fake_binary.ts";

let bench: Bench;

/** Runs a case of these steps and says how it failed; nothing when it passed. */
async function failureOf(body: string, beside: Record<string, string> = {}): Promise<string | undefined> {
  const results = await bench.run(`shows: something\n${body}`, beside);
  const failures = results.flatMap((result) => result.failures);
  return failures.length === 0
    ? undefined
    : failures.map(({ step, message }) => `${step}: ${message}`).join("\n");
}

async function assertPasses(body: string, beside: Record<string, string> = {}): Promise<void> {
  assert.equal(await failureOf(body, beside), undefined);
}

async function assertFails(body: string, expected: RegExp): Promise<void> {
  assert.match((await failureOf(body)) ?? "(it passed)", expected);
}

const EVENT = (type: string, data = "{}") =>
  `'{"type":"${type}","session":"default/main","timestamp":"2026-01-01T00:00:00.000Z","data":${data}}'`;

describe("the cases runner", () => {
  before(async () => {
    bench = await makeBench();
  });
  after(() => bench.remove());

  it("judges exit, stdout and stderr of a run", async () => {
    await assertPasses(`steps: [{run: [say, hello], expect: {stdout: hello}}]`);
    await assertPasses(
      `steps: [{run: [complain, oh, "4"], expect: {exit: 4, stderr: {contains: oh}, stdout: ""}}]`,
    );
    await assertFails(`steps: [{run: [say, hello], expect: {stdout: hallo}}]`, /- hallo\n\s+\+ hello/);
    await assertFails(
      `steps: [{run: [complain, oh, "4"], expect: {exit: 5}}]`,
      /exit is 4, not 5[^]*stderr:\n\s+oh/,
    );
    await assertFails(
      `steps: [{run: [complain, oh, "4"], expect: {exit: 4, stderr: {absent: oh}}}]`,
      /contains "oh"/,
    );
  });

  it("expects exit 0 where a run says nothing else", async () => {
    await assertFails(
      `steps: [{run: [complain, oh, "1"]}]`,
      /steps\[0\] run complain oh 1: exit is 1, not 0/,
    );
    await assertPasses(`steps: [{run: [complain, oh, "1"], expect: {exit: any}}]`);
  });

  it("stops at the first step that fails", async () => {
    const failure = await failureOf(
      `steps: [{run: [complain, oh, "1"]}, {run: [complain, oh, "2"]}]\nexpect: {files: {x: a}}`,
    );
    assert.match(failure ?? "", /steps\[0\]/);
    assert.doesNotMatch(failure ?? "", /steps\[1\]|expect/);
  });

  it("matches text by line, pattern and JSON", async () => {
    await assertPasses(`steps: [{run: [say, a1, b], expect: {stdout: {lines: [{regex: "^a\\\\d$"}, b]}}}]`);
    await assertFails(`steps: [{run: [say, a, b], expect: {stdout: {lines: [a]}}}]`, /has 2 lines, not 1/);
    await assertFails(`steps: [{run: [say, a], expect: {stdout: {regex: "^b"}}}]`, /does not match/);
    await assertPasses(
      `steps: [{run: [say, '{"a":[1,2],"b":3}'], expect: {stdout: {json: {a: [1, {$gt: 1}]}}}}]`,
    );
    await assertFails(
      `steps: [{run: [say, '{"a":[1,2]}'], expect: {stdout: {json: {a: [1], c: {$any: true}}}}}]`,
      /a: expected 1 entries, got 2[^]*c: expected anything/,
    );
    await assertPasses(
      `steps: [{run: [say, '{"a":1}', '{"a":2}'], expect: {stdout: {json_lines: [{a: 1}, {a: 2}]}}}]`,
    );
    await assertFails(`steps: [{run: [say, nonsense], expect: {stdout: {json: {}}}}]`, /is not JSON/);
  });

  it("gives every run fresh folders, a clean environment, the files of the case, and its input", async () => {
    await assertPasses(
      `env: {A: one}
files: {"~/.reyn/config.yaml": "x: 1\\n", "sub/b": {hex: "c3 a9", mode: "0640"}, link: {symlink: sub/b}}
steps:
  - run: [where]
    expect: {stdout: {lines: [{exact: <<CONTROL>>}, .reyn]}}
  - run: [env]
    env: {B: two, LANG: null}
    expect: {stdout: {contains: ["A=one", "B=two", "HOME=<<HOME>>"], absent: ["LANG=", "DENO", "npm_", "BUN"]}}
  - run: [cat]
    stdin: {repeat: {text: xy, times: 50000}}
    expect: {stdout: {repeat_is: no}}
expect: {files: {given: "from the folder\\n", sub/b: {content: é, mode: "0640"}, link: {type: symlink}}}`
        .replace("{repeat_is: no}", `{regex: "^(xy)+$"}`),
      { "files/given": "from the folder\n" },
    );
  });

  it("judges files", async () => {
    const steps = `steps: [{write: {a: text, b: {content: x, mode: "0600"}}}]\n`;
    await assertFails(`${steps}expect: {files: {a: other}}`, /file a differs[^]*- other\n\s+\+ text/);
    await assertFails(`${steps}expect: {files: {a: {exists: false}}}`, /file a exists/);
    await assertFails(`${steps}expect: {files: {c: {exists: true}}}`, /file c does not exist/);
    await assertFails(`${steps}expect: {files: {b: {mode: "0644"}}}`, /has mode 0600, not 0644/);
    await assertFails(`${steps}expect: {files: {b: {size: {$gt: 1}}}}`, /size: expected > 1, got 1/);
  });

  it("changes files by its steps", async () => {
    await assertPasses(
      `steps:
  - write: {a: one}
  - append: {path: a, content: " two"}
  - touch: new/empty
  - rename: {from: a, to: b}
  - chmod: {path: b, mode: "0400"}
  - expect: {files: {b: {content: one two, mode: "0400"}, a: {exists: false}, new/empty: ""}}
  - remove: b
expect: {files: {b: {exists: false}}}`,
    );
    await assertFails(`steps: [{write: {"../../out": x}}]`, /lies outside the folders of the case/);
  });

  it("judges the order, absence and number of events", async () => {
    const log = [
      EVENT("turn_started", '{"seq":1}'),
      EVENT("turn_started", '{"seq":2}'),
      EVENT("turn_completed", '{"seq":2}'),
    ];
    const steps = `steps: [{run: [log, ${log.join(", ")}]}]\n`;
    await assertPasses(
      `${steps}expect: {events: {order: [turn_started, {type: turn_completed, session: default/main, data: {seq: 2}}],
  absent: [hook_failed, {type: turn_started, data: {seq: 3}}], count: {turn_started: 2}}}`,
    );
    await assertFails(
      `${steps}expect: {events: [turn_completed, turn_started]}`,
      /events\[1\] turn_started is missing, behind those before it/,
    );
    await assertFails(
      `${steps}expect: {events: [{type: turn_completed, data: {seq: 1}}]}`,
      /the first one differs: data.seq: expected 1, got 2/,
    );
    await assertFails(
      `${steps}expect: {events: {absent: [turn_completed]}}`,
      /turn_completed should not be there/,
    );
    await assertFails(
      `${steps}expect: {events: {count: {turn_started: 1}}}`,
      /2 events of type turn_started, not 1/,
    );
    await assertFails(
      `steps: [{run: [log, garbage]}]\nexpect: {events: {absent: [x]}}`,
      /1 lines of the log are no/,
    );
  });

  it("asks the binary for a session", async () => {
    const session = (text: string) => `steps: [{run: [say, x]}]\nexpect: {session: ${text}}`;
    await assertPasses(
      session(
        `{id: main, history: {$contains: [{role: assistant, text: {$contains: "[hook:a]"}}]}, inbox: []}`,
      ),
    );
    await assertFails(session(`{id: main, history: [{role: user}]}`), /history: expected 1 entries, got 2/);
    await assertFails(
      session(`{id: main, valve: {count: 2}}`),
      /session main: valve.count: expected 2, got 1/,
    );
    await assertFails(session(`{id: other, inbox: []}`), /sessions show other --json: exit 1/);
  });

  it("drives processes in the background", async () => {
    await assertPasses(
      `steps:
  - run: [serve]
    background: it
  - wait_output: {of: it, stdout: {contains: ready}}
  - send: {to: it, text: "hello\\n"}
  - wait_output: {of: it, stdout: {lines: [ready, line hello]}}
  - close_stdin: it
  - wait_output: {of: it, stdout: {contains: eof}}
  - expect: {processes_left: 0}
  - signal: {to: it, name: SIGTERM}
  - wait_exit: {of: it, exit: 0, stdout: {contains: stopping}}
  - exec: [sh, -c, "kill -9 $$"]
    background: other
  - wait_exit: {of: other, exit: 137}
expect: {processes_left: 0}`,
    );
    const serve =
      `steps:\n  - {run: [serve], background: it, stdin: x}\n  - wait_output: {of: it, stdout: {contains: eof}}\n`;
    await assertFails(
      `${serve}  - wait_output: {of: it, stdout: {contains: no}, timeout: 100ms}`,
      /not within 0.1 s/,
    );
    await assertFails(`${serve}  - wait_exit: {of: it, timeout: 100ms}`, /still runs after 0.1 s/);
    await assertFails(
      `${serve}  - kill: it\n  - signal: {to: it, name: SIGTERM}`,
      /had ended already, with exit 137/,
    );
  });

  it("waits for events while a process runs", async () => {
    await assertPasses(
      `steps:
  - exec: [sh, -c, 'sleep 0.1; "$0" log "$1"', <<REYN>>, ${EVENT("late")}]
    background: writer
  - wait_event: {type: late, session: default/main}
  - wait_exit: {of: writer}`,
    );
    await assertFails(
      `steps: [{wait_event: {type: late, timeout: 50ms}}]`,
      /0 of 1 events late within 0.05 s/,
    );
  });

  it("gives a real terminal", async () => {
    await assertPasses(`steps: [{run: [terminal], tty: true, stdin: "word\\n", expect: {exit: 3,
      stdout: {contains: [terminal, got word]}}}]`);
    await assertPasses(`steps: [{run: [terminal], expect: {stdout: pipe}}]`);
  });

  it("expects 137 of a run with a kill point, and sets it for the test binary", async () => {
    await assertPasses(`binary: test\nsteps: [{run: [point], kill_at: "turn.begin:2"}]`);
    await assertFails(
      `binary: test\nsteps: [{run: [say, x], kill_at: turn.begin}]`,
      /did not come to turn.begin: exit is 0/,
    );
  });

  it("advances the clock of the test binary", async () => {
    await assertPasses(
      `binary: test
steps:
  - {run: [clock], background: it}
  - advance: {of: it, by: 5s}
  - wait_output: {of: it, stdout: {contains: now 6000}}`,
    );
    await assertFails(
      `binary: test\nsteps: [{run: [serve], background: it}, {advance: {of: it, by: 1s, timeout: 100ms}}]`,
      /advancing by 1000 ms: the test clock did not answer/,
    );
  });

  it("asks over HTTP and judges the answer", async () => {
    const server = createServer((request, answer) => {
      request.setEncoding("utf8").on("data", (text: string) => {
        answer.writeHead(201, { "x-kind": "echo" }).end(`${request.method} ${text}`);
      });
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", () => listening()));
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/x`;
    const step = (expected: string) => `steps: [{http: {url: "${url}", json: {a: 1}}, expect: ${expected}}]`;
    try {
      await assertPasses(step(`{status: 201, headers: {X-Kind: echo}, body: 'POST {"a":1}'}`));
      await assertFails(
        step(`{body: {contains: PUT}}`),
        /status is 201, not 200\nbody does not contain "PUT"/,
      );
    } finally {
      server.close();
      server.closeAllConnections();
    }
    await assertFails(step(`{status: 201}`), /POST http:\/\/127.0.0.1:\d+\/x: /);
  });

  it("reports processes that are left alive, and ends them", async () => {
    await assertFails(`steps: [{run: [leave]}]\nexpect: {processes_left: 0}`, /1 processes are left, not 0/);
    const failure = (await failureOf(`steps: [{run: [orphan], timeout: 5s}]`)) ?? "";
    const pid = /were left alive, and killed:\n\s+(\d+) sleep 300/.exec(failure)?.[1];
    assert.ok(pid !== undefined && !existsSync(`/proc/${pid}/fd/0`), `left alive: ${failure}`);
  });

  it("ends a step and a case that take too long", async () => {
    await assertFails(
      `steps: [{run: [hang], timeout: 100ms}]`,
      /steps\[0\] run hang: did not end within 0.1 s/,
    );
    await assertFails(
      `timeout: 150ms\nsteps: [{run: [say, x]}, {run: [hang]}]`,
      /steps\[1\] run hang: the case is not/,
    );
  });

  it("counts each row of a matrix, and runs a case as often as it says", async () => {
    const results = await bench.run(
      `shows: rows
matrix:
  - {name: good, word: a, wanted: [a]}
  - {name: bad, word: b, wanted: [c]}
repeat: 2
steps: [{run: [say, "<<word>>"], expect: {stdout: {lines: <<wanted>>}}}]`,
    );
    assert.deepEqual(results.map(({ name }) => name.replace(/^area\/case_\d+/, "")), ["[good]", "[bad]"]);
    assert.deepEqual(results.map(({ failures }) => failures.length), [0, 1]);
    assert.match(results[1]?.failures[0]?.message ?? "", /^\(run 1 of 2\)/);
  });

  it("says on which line of the case it failed", async () => {
    const [result] = await bench.run(`shows: line\nsteps:\n  - run: [say, a]\n  - run: [complain, a, "1"]\n`);
    assert.equal(result?.failures[0]?.line, 4);
  });
});
