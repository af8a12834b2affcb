import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { attributeDenial } from "../../../src/sandbox/macos/attribute.ts";
import type { Grants } from "../../../src/sandbox/policy.ts";
import { makePlace, type Place } from "../helpers.ts";

describe("telling a denial from stderr", () => {
  let place: Place;
  before(() => {
    place = makePlace();
    place.write("home/.ssh/id_rsa");
    place.write("control/data.txt");
  });
  after(() => place.remove());
  const tell = (stderrTail: string, grants: Partial<Grants> = {}) =>
    attributeDenial({
      policy: place.policy(grants),
      cwd: place.control,
      stderrTail,
      argv: ["/usr/bin/python3"],
    });

  it("knows how programs say that they could not start another", () => {
    for (
      const line of [
        "bash: fork: Operation not permitted",
        "/bin/sh: fork: Operation not permitted",
        "zsh: fork failed: operation not permitted",
        "Error: spawn /usr/bin/git EPERM",
        "Error: spawnSync /bin/sh EPERM",
        "xcrun: error: posix_spawn failed: Operation not permitted",
        "BlockingIOError in fork: [Errno 1] Operation not permitted",
      ]
    ) {
      const denial = tell(`noise\n${line}\n`);
      assert.equal(denial?.class, "fork_denied", line);
      assert.equal(denial?.attribution, "heuristic");
      assert.match(denial?.message ?? "", /subprocess: true on the hook opens it/);
      assert.notEqual(tell(line, { subprocess: true })?.class, "fork_denied", line);
    }
  });

  it("knows how programs say that the network is closed", () => {
    for (
      const line of [
        "curl: (6) Could not resolve host: example.com",
        "curl: (7) Failed to connect to 10.0.0.1 port 80",
        "nc: connect to 127.0.0.1 port 80 (tcp) failed: Operation not permitted",
        "Error: connect EPERM 127.0.0.1:80 - Local (0.0.0.0:0)",
        "Error: getaddrinfo ENOTFOUND example.com",
        "socket.gaierror: [Errno 8] nodename nor servname provided, or not known",
      ]
    ) {
      assert.equal(tell(line)?.class, "network_denied", line);
      assert.equal(tell(line, { network: true }), null, line);
    }
  });

  it("finds refused paths as elsewhere", () => {
    assert.equal(tell(`cat: ${place.home}/.ssh/id_rsa: Operation not permitted`)?.class, "read_denied");
    assert.equal(tell("touch: data.txt: Operation not permitted")?.class, "write_denied");
  });

  it("does not blame the sandbox for other failures", () => {
    for (const text of ["", "fork: Resource temporarily unavailable", "cat: x: No such file or directory"]) {
      assert.equal(tell(text), null, text);
    }
  });
});
