import assert from "node:assert/strict";
import { mkdirSync, symlinkSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { canonicalPath, expandPath, isUnder } from "../../src/sandbox/paths.ts";
import { makePlace, type Place } from "./helpers.ts";

describe("a path of the operator's", () => {
  const base = { controlDir: "/srv/app", homes: ["/home/u", "/var/lib/u"] };

  it("stands for one path in each home when it starts with ~", () => {
    assert.deepEqual(expandPath("~/x", base), ["/home/u/x", "/var/lib/u/x"]);
    assert.deepEqual(expandPath("~", base), ["/home/u", "/var/lib/u"]);
  });

  it("is relative to the control folder", () => {
    assert.deepEqual(expandPath("out/", base), ["/srv/app/out"]);
    assert.deepEqual(expandPath("~u/x", base), ["/srv/app/~u/x"]);
  });

  it("is normalised, so that .. cannot hide where it leads", () => {
    assert.deepEqual(expandPath("/tmp/../etc/./ssl//certs/", base), ["/etc/ssl/certs"]);
    assert.deepEqual(expandPath("../../../..", base), ["/"]);
    assert.deepEqual(expandPath("~/../other", base), ["/home/other", "/var/lib/other"]);
  });
});

describe("a canonical path", () => {
  let place: Place;
  before(() => {
    place = makePlace();
    mkdirSync(path.join(place.root, "real/deep"), { recursive: true });
    symlinkSync("real", path.join(place.root, "link"));
    symlinkSync("nowhere/else", path.join(place.root, "dangling"));
    symlinkSync("loop", path.join(place.root, "loop"));
  });
  after(() => place.remove());
  const at = (name: string) => path.join(place.root, name);

  it("has its symlinks followed", () => assert.equal(canonicalPath(at("link/deep")), at("real/deep")));
  it("keeps what does not exist", () =>
    assert.equal(canonicalPath(at("link/new/file")), at("real/new/file")));
  it("goes where a dangling symlink points", () => {
    assert.equal(canonicalPath(at("dangling/x")), at("nowhere/else/x"));
  });
  it("comes to an end on a loop", () => assert.ok(canonicalPath(at("loop/x")).startsWith(place.root)));
});

describe("being under a folder", () => {
  it("goes by whole names", () => {
    assert.ok(isUnder("/a/b", "/a"));
    assert.ok(isUnder("/a", "/a"));
    assert.ok(isUnder("/a", "/"));
    assert.ok(!isUnder("/ab", "/a"));
    assert.ok(!isUnder("/a", "/a/b"));
  });
});
