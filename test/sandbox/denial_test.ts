import assert from "node:assert/strict";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { explainDenial } from "../../src/sandbox/denial.ts";
import type { Grants } from "../../src/sandbox/policy.ts";
import type { DeniedCounts } from "../../src/sandbox/result.ts";
import { makePlace, type Place } from "./helpers.ts";

const NONE: DeniedCounts = {
  fork: 0,
  forkBudget: 0,
  inet: 0,
  unix: 0,
  socket: 0,
  metadata: 0,
  listing: 0,
  other: 0,
};

describe("explaining a failed run", () => {
  let place: Place;
  before(() => {
    place = makePlace();
    place.write("home/.ssh/id_rsa");
    place.write("control/out/x");
    place.write("control/data.txt");
  });
  after(() => place.remove());

  const explain = (
    denied: Partial<DeniedCounts>,
    stderrTail = "",
    grants: Partial<Grants> = {},
    argv = ["/usr/bin/touch"],
  ) =>
    explainDenial({
      policy: place.policy(grants, { readOnly: argv.filter((word) => word.startsWith(place.control)) }),
      cwd: place.control,
      denied: { ...NONE, ...denied },
      stderrTail,
      argv,
    });

  it("names a counted fork and the key that opens it", () => {
    const denial = explain({ fork: 1, inet: 3 });
    assert.equal(denial?.class, "fork_denied");
    assert.equal(denial?.attribution, "counted");
    assert.match(denial?.message ?? "", /subprocess: false in force \(subprocess: true on the hook/);
  });

  it("names the budget of processes", () => {
    assert.match(explain({ forkBudget: 1 })?.message ?? "", /as many processes as may live/);
  });

  it("names a counted use of the network, but not of Unix sockets, which shells try by habit", () => {
    assert.equal(explain({ inet: 1 })?.class, "network_denied");
    assert.equal(explain({ socket: 1 })?.class, "network_denied");
    assert.equal(explain({ unix: 4 }), null);
  });

  it("finds the path of a refused read in what various programs write", () => {
    const key = path.join(place.home, ".ssh/id_rsa");
    for (
      const line of [
        `cat: ${key}: Permission denied`,
        `PermissionError: [Errno 13] Permission denied: '${key}'`,
        `Error: EACCES: permission denied, open '${key}'`,
        `cat: ../home/.ssh/id_rsa: Permission denied`,
      ]
    ) {
      const denial = explain({}, `${line}\n`);
      assert.equal(denial?.class, "read_denied", line);
      assert.equal(denial?.attribution, "heuristic");
      assert.equal(denial?.path, key);
    }
  });

  it("finds the path of a refused write, and names the grants", () => {
    for (
      const line of [
        "/usr/bin/touch: cannot touch 'new': Permission denied",
        `sh: 1: cannot create ${place.control}/new: Permission denied`,
      ]
    ) {
      const denial = explain({ metadata: 1 }, line, { writePaths: ["out"] });
      assert.equal(denial?.class, "write_denied", line);
      assert.equal(denial?.path, path.join(place.control, "new"));
      assert.match(denial?.message ?? "", /write_paths: \["out"\] in force/);
    }
  });

  it("says that some paths no key opens", () => {
    const denial = explain({}, `tee: ${place.control}/reyn.yaml: Permission denied`, { writePaths: ["out"] });
    assert.equal(denial?.class, "write_denied");
    assert.match(denial?.message ?? "", /no key opens it/);
  });

  it("says of a script that was refused a write to itself that it is what runs", () => {
    const script = place.write("control/own.sh");
    for (
      const line of [
        `${script}: 2: cannot create ${script}: Permission denied`,
        `${script}: 2: cannot create own.sh: Permission denied`,
      ]
    ) {
      const denial = explain({}, line, { writePaths: ["."] }, [script]);
      assert.equal(denial?.class, "write_denied", line);
      assert.equal(denial?.path, script);
      assert.match(
        denial?.message ?? "",
        /is what a hook runs, and never writable, and no key opens it/,
      );
    }
  });

  it("does not take who complains for what is complained about", () => {
    const script = place.write("control/own.pl");
    const argv = ["/usr/bin/perl", script];
    const key = path.join(place.home, ".ssh/id_rsa");
    for (
      const line of [
        `${script}: 2: cannot open ${key}: Permission denied`,
        `Can't open ${key}: Permission denied at ${script} line 3.`,
      ]
    ) {
      assert.equal(explain({}, line, {}, argv)?.path, key);
    }
    assert.equal(
      explain({}, `${script}: 2: cannot open out/x: Permission denied`, { writePaths: ["out"] }, argv),
      null,
    );
    assert.equal(
      explain({}, `Can't open out/x: Permission denied at ${script} line 3.`, { writePaths: ["out"] }, argv),
      null,
    );
  });

  it("does not blame the sandbox for what it grants, or for what names no path", () => {
    assert.equal(
      explain({}, `tee: ${place.control}/out/x: Permission denied`, { writePaths: ["out"] }),
      null,
    );
    assert.equal(explain({}, "Permission denied"), null);
    assert.equal(explain({}, `cat: ${place.control}/data.txt: No such file or directory`), null);
  });

  it("names a counted change of metadata when no path is named", () => {
    const denial = explain({ metadata: 2 });
    assert.equal(denial?.class, "write_denied");
    assert.equal(denial?.attribution, "counted");
  });
});
