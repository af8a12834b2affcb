import assert from "node:assert/strict";
import { mkdirSync, symlinkSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { checkGrants } from "../../src/sandbox/check_grants.ts";
import { deniedPaths, guardedPaths, readOnlyPaths } from "../../src/sandbox/guarded_paths.ts";
import { makePlace, type Place } from "./helpers.ts";

describe("the guarded paths", () => {
  let place: Place;
  before(() => {
    place = makePlace();
    place.write("control/.reyn/agents/reviewer/state/x");
    place.write("control/reyn.extra.yaml");
  });
  after(() => place.remove());

  it("hold the sensitive files of every home", () => {
    const denied = deniedPaths(place.policy({}, { homes: ["/home/a", "/home/b"] }));
    for (
      const name of [
        ...[
          ".ssh",
          ".aws",
          ".gnupg",
          ".config/gcloud",
          ".config/gh",
          ".kube",
          ".docker/config.json",
          ".netrc",
        ],
        ...[
          ".npmrc",
          ".git-credentials",
          ".reyn/shell-hooks-allowlist.json",
          ".reyn/trust.json",
          ".reyn/question-key",
        ],
      ]
    ) {
      assert.ok(denied.includes(`/home/a/${name}`), name);
      assert.ok(denied.includes(`/home/b/${name}`), name);
    }
    assert.ok(denied.includes("/etc/shadow"));
  });

  it("hold the state of every agent, of the default one also before it has any", () => {
    const denied = deniedPaths(place.policy());
    for (const name of [".reyn/state", ".reyn/agents/default/state", ".reyn/agents/reviewer/state"]) {
      assert.ok(denied.includes(path.join(place.control, name)), name);
    }
  });

  it("hold what the operator adds", () => {
    const denied = deniedPaths(place.policy({}, { denyRead: [".env", "~/private"] }));
    assert.ok(denied.includes(path.join(place.control, ".env")));
    assert.ok(denied.includes(path.join(place.home, "private")));
  });

  it("keep settings and the files of argv from being written", () => {
    const readOnly = readOnlyPaths(place.policy({}, { readOnly: ["bin/hook"] }));
    for (
      const name of [
        "reyn.yaml",
        "reyn.local.yaml",
        "reyn.extra.yaml",
        "cli-config.yaml",
        ".reyn",
        "bin/hook",
      ]
    ) {
      assert.ok(readOnly.includes(path.join(place.control, name)), name);
    }
    assert.ok(readOnly.includes(path.join(place.home, ".reyn")));
  });

  it("tell inside, above and free apart, denied before read-only", () => {
    const standing = guardedPaths(place.policy());
    assert.equal(standing(path.join(place.home, ".ssh/id")).at, "inside");
    assert.equal(standing(place.home).at, "above");
    assert.equal(standing(path.join(place.home, ".sshx")).at, "free");
    const state = standing(path.join(place.control, ".reyn/state/x"));
    assert.ok(state.at === "inside" && state.guard === "denied");
    const hooks = standing(path.join(place.control, ".reyn/config"));
    assert.ok(hooks.at === "inside" && hooks.guard === "read_only");
  });
});

describe("checking grants", () => {
  let place: Place;
  before(() => {
    place = makePlace();
    for (const name of ["home/.ssh", "home/work", "control/out", "elsewhere/aws"]) {
      mkdirSync(path.join(place.root, name), { recursive: true });
    }
    symlinkSync(path.join(place.home, ".ssh"), path.join(place.control, "keys"));
    symlinkSync(path.join(place.root, "elsewhere/aws"), path.join(place.home, ".aws"));
  });
  after(() => place.remove());
  const check = (...writePaths: string[]) =>
    checkGrants(place.policy({ writePaths })).map(({ code, subject }) => `${subject} ${code}`);

  it("finds nothing wrong with a folder of its own", () => assert.deepEqual(check("out", "~/work"), []));

  it("refuses what lies at or below a denied path, however it is written", () => {
    const aws = path.join(place.root, "elsewhere/aws");
    const written = [
      "~/.ssh",
      "~/.ssh/new/file",
      "~/work/../.ssh",
      "keys",
      "keys/x",
      aws,
      "~/.kube",
      ".reyn/state",
    ];
    assert.deepEqual(check(...written), written.map((_, index) => `write_paths[${index}] E_GRANT_DENIED`));
  });

  it("refuses what is never writable", () => {
    assert.deepEqual(check("reyn.yaml", ".reyn/config/hooks.yaml", "~/.reyn"), [
      "write_paths[0] E_GRANT_DENIED",
      "write_paths[1] E_GRANT_DENIED",
      "write_paths[2] E_GRANT_DENIED",
    ]);
  });

  it("refuses the machine's own folders, except shared memory", () => {
    const refused = ["/proc/sys", "/sys", "/dev", "/dev/pts"];
    assert.deepEqual(
      check(...refused, "/dev/shm"),
      refused.map((_, i) => `write_paths[${i}] E_GRANT_DENIED`),
    );
  });

  it("warns of a grant above a denied path, naming it", () => {
    const [found] = checkGrants(place.policy({ writePaths: ["~"] }));
    assert.equal(found?.code, "W_GRANT_NARROWED");
    assert.equal(found?.severity, "warning");
    assert.match(found?.message ?? "", /\.ssh/);
    assert.deepEqual(check(".", "/"), ["write_paths[0] W_GRANT_NARROWED", "write_paths[1] W_GRANT_NARROWED"]);
  });

  it("warns of a missing target", () =>
    assert.deepEqual(check("not/there"), ["write_paths[0] W_GRANT_MISSING"]));

  it("says where .. leads", () => {
    const [found] = checkGrants(place.policy({ writePaths: ["out/../reyn.yaml"] }));
    assert.equal(found?.code, "E_GRANT_DENIED");
    assert.ok(found?.message.includes(path.join(place.control, "reyn.yaml")));
  });

  it("checks every home that ~ stands for", () => {
    const findings = checkGrants(
      place.policy({ writePaths: ["~/work"] }, { homes: [place.home, "/nonexistent"] }),
    );
    assert.deepEqual(findings.map(({ code }) => code), ["W_GRANT_MISSING"]);
  });
});
