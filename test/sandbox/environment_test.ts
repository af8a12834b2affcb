import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FIXED_PATH, hookEnvironment, type HookEnvironmentOptions } from "../../src/sandbox/environment.ts";

describe("the environment of a hook", () => {
  const base: HookEnvironmentOptions = {
    source: {
      PATH: "/evil",
      HOME: "/home/u",
      USER: "u",
      LANG: "C.UTF-8",
      TZ: "UTC",
      SSH_AUTH_SOCK: "/run/agent",
      X_API_KEY: "secret",
      BASH_ENV: "/evil",
      LD_PRELOAD: "/evil",
      https_proxy: "http://proxy",
      SSL_CERT_FILE: "/etc/ca.pem",
      NAMED: "passed",
      REYN_HOOK: "forged",
    },
    account: { home: "/var/lib/u", name: "account" },
    controlDir: "/srv/app",
    hook: "notify",
    point: "turn_end",
    session: "default/main",
    firingId: "f-1",
    network: false,
    names: [],
  };
  const fixed = {
    PATH: FIXED_PATH,
    HOME: "/home/u",
    USER: "u",
    LANG: "C.UTF-8",
    TZ: "UTC",
    REYN_CONTROL_DIR: "/srv/app",
    REYN_HOOK: "notify",
    REYN_POINT: "turn_end",
    REYN_SESSION: "default/main",
    REYN_FIRING_ID: "f-1",
  };

  it("is a fixed list", () => assert.deepEqual(hookEnvironment(base), fixed));

  it("has proxies and authorities with network", () => {
    assert.deepEqual(hookEnvironment({ ...base, network: true }), {
      ...fixed,
      https_proxy: "http://proxy",
      SSL_CERT_FILE: "/etc/ca.pem",
    });
  });

  it("has what env names, when it is set", () => {
    assert.deepEqual(hookEnvironment({ ...base, names: ["NAMED", "UNSET"] }), { ...fixed, NAMED: "passed" });
  });

  it("cannot be made to lie about the hook", () => {
    assert.equal(hookEnvironment({ ...base, names: ["REYN_HOOK"] })["REYN_HOOK"], "notify");
  });

  it("takes home and user from the account when reyn has none", () => {
    const env = hookEnvironment({ ...base, source: {} });
    assert.equal(env["HOME"], "/var/lib/u");
    assert.equal(env["USER"], "account");
  });
});
