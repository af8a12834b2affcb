import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { lintProfile } from "../../../src/sandbox/macos/lint.ts";
import { type Confinement, seatbeltProfile } from "../../../src/sandbox/macos/profile.ts";
import { spellings, whyUnspeakable } from "../../../src/sandbox/macos/spellings.ts";
import { verifyProfile } from "../../../src/sandbox/macos/verify.ts";
import { FLOOR, LIFTED, WIDEST } from "./confinements.ts";
import { changedRules, knownMistakes } from "./mutants.ts";

const BOTH = [["floor", FLOOR], ["lifted", LIFTED]] as const;

describe("a Seatbelt profile", () => {
  for (const [name, confinement] of BOTH) {
    it(`is what is written down for the ${name}`, () => {
      const golden = readFileSync(new URL(`golden/${name}.sb`, import.meta.url), "utf8");
      assert.equal(seatbeltProfile(confinement), golden);
    });

    it(`says what the ${name} means`, () => {
      assert.deepEqual(verifyProfile(seatbeltProfile(confinement), confinement), []);
    });

    it(`is caught when a denial of the ${name} says less, under the widest grant`, () => {
      const wide = { ...confinement, writable: WIDEST };
      const profile = seatbeltProfile(wide);
      assert.deepEqual(verifyProfile(profile, wide), []);
      const mutants = changedRules(profile, "deny");
      assert.ok(mutants.length > 100);
      const missed = mutants.filter(({ text }) => verifyProfile(text, wide).length === 0);
      assert.deepEqual(missed.map((mutant) => mutant.name), []);
    });

    it(`is caught when an allowance of the ${name} is missing or has no conditions`, () => {
      const mutants = changedRules(seatbeltProfile(confinement), "allow");
      assert.ok(mutants.length > 15);
      const missed = mutants.filter(({ text }) => verifyProfile(text, confinement).length === 0);
      assert.deepEqual(missed.map((mutant) => mutant.name), []);
    });

    it(`is caught with the mistakes that are made, at the ${name}`, () => {
      const profile = seatbeltProfile(confinement);
      for (const mutant of knownMistakes(profile, confinement)) {
        assert.notEqual(mutant.text, profile, `${mutant.name} changes nothing`);
        assert.notDeepEqual(verifyProfile(mutant.text, confinement), [], mutant.name);
      }
    });
  }

  it("is not that of another confinement", () => {
    const changes: Partial<Confinement>[] = [
      { denied: [...FLOOR.denied, "/Users/ada/.aws"] },
      { readOnly: [...FLOOR.readOnly, "/Users/ada/hook.sh"] },
      { writable: ["/opt/out"] },
      { subprocess: true },
      { network: true },
    ];
    const granted = { ...FLOOR, writable: ["/Users/ada"] };
    for (const change of changes) {
      const problems = verifyProfile(seatbeltProfile(granted), { ...granted, ...change });
      assert.notDeepEqual(problems, [], JSON.stringify(change));
    }
  });

  it("keeps a path that looks like a rule a path", () => {
    for (
      const file of [
        '/Users/ada/a") (allow default) ("',
        "/Users/ada/back\\slash\\",
        '/Users/ada/\\") (allow file-write*) (literal "',
        "/Users/ada/; (comment",
        "/Users/ada/a.b*c[d]^e$(f)|{g}+?/key",
        "/Users/ada/café/key",
      ]
    ) {
      const confinement = { ...LIFTED, denied: [...LIFTED.denied, file], writable: ["/Users/ada"] };
      assert.deepEqual(verifyProfile(seatbeltProfile(confinement), confinement), [], file);
    }
  });

  it("shows by the linter alone what an order of rules hides", () => {
    const text =
      '(version 1)\n(deny default)\n(deny file-read* (subpath "/k"))\n(allow file-read-data (subpath "/"))';
    assert.deepEqual(lintProfile(text).map((found) => found.code), [
      "order",
      "members",
      "spelling",
    ]);
  });
});

describe("the spellings of a path", () => {
  it("have /private and the data volume with and without", () => {
    assert.deepEqual(spellings("/tmp/x"), ["/tmp/x", "/private/tmp/x", "/System/Volumes/Data/private/tmp/x"]);
    assert.deepEqual(new Set(spellings("/private/var/db")), new Set(spellings("/var/db")));
    assert.deepEqual(spellings("/Users/ada"), ["/Users/ada", "/System/Volumes/Data/Users/ada"]);
    assert.deepEqual(new Set(spellings("/System/Volumes/Data/Users/ada")), new Set(spellings("/Users/ada")));
    assert.deepEqual(spellings("/private/tmpfoo"), [
      "/private/tmpfoo",
      "/System/Volumes/Data/private/tmpfoo",
    ]);
  });

  it("have composed and decomposed letters", () => {
    assert.deepEqual(new Set(spellings("/k\u00e9y")), new Set(spellings("/ke\u0301y")));
  });

  it("say which paths cannot be written in a profile", () => {
    assert.match(whyUnspeakable("/a\nb") ?? "", /control character/);
    assert.match(whyUnspeakable("a") ?? "", /not absolute/);
    assert.match(whyUnspeakable("/\ud800") ?? "", /Unicode/);
    assert.match(whyUnspeakable(`/${"x".repeat(1023)}`) ?? "", /longer than 1024 bytes/);
    assert.equal(whyUnspeakable("/Users/ada/é"), undefined);
  });
});
