import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { checkValue } from "../../src/config/check_value.ts";
import { bool, duration, envName, nonBlank, showDuration, showSize, size } from "../../src/config/scalars.ts";

function read(schema: z.ZodType, value: unknown): unknown {
  const checked = checkValue(schema, value);
  if (checked.ok) return checked.value;
  return checked.issues.map(({ message, fix }) => fix ? `${message} (${fix})` : message).join("; ");
}

describe("a duration", () => {
  it("is seconds as a number, or a number with a unit, in milliseconds", () => {
    assert.equal(read(duration(), 10), 10_000);
    assert.equal(read(duration(), 0.5), 500);
    assert.equal(read(duration(), "250ms"), 250);
    assert.equal(read(duration(), "1.5s"), 1500);
    assert.equal(read(duration(), "2m"), 120_000);
    assert.equal(read(duration(), "1h"), 3_600_000);
    assert.equal(read(duration(), 0), 0);
  });

  it("says its forms when it is none", () => {
    const text = "must be a duration (seconds as a number, or <N>ms, <N>s, <N>m, <N>h)";
    for (const bad of ["soon", "10", "1d", "-1s", "1 s", "", "1e3s", -1, true, [], null]) {
      const message = read(duration(), bad);
      assert.ok(typeof message === "string" && message.startsWith(text), String(message));
    }
    assert.equal(read(duration(), "30x"), `${text}, got "30x"`);
  });

  it("keeps to its bounds", () => {
    assert.equal(read(duration({ min: 1000, max: 60_000 }), "5m"), 'must be at most 1m, got "5m"');
    assert.equal(read(duration({ min: 1000 }), 0.1), "must be at least 1s, got 0.1");
  });

  it("is shown as it may be written", () => {
    assert.deepEqual([1500, 2000, 60_000, 7_200_000, 0].map(showDuration), [
      "1500ms",
      "2s",
      "1m",
      "2h",
      "0ms",
    ]);
  });
});

describe("a size", () => {
  it("is bytes as a number, or a number with a unit", () => {
    assert.equal(read(size(), 512), 512);
    assert.equal(read(size(), "8KiB"), 8192);
    assert.equal(read(size(), "1.5MiB"), 1_572_864);
    assert.equal(read(size(), "1GiB"), 1_073_741_824);
  });

  it("says its forms when it is none", () => {
    for (const bad of ["5MB", "5", "KiB", -1, 1.5, "1 MiB"]) {
      assert.match(
        String(read(size(), bad)),
        /^must be a size \(bytes as a number, or <N>KiB, <N>MiB, <N>GiB\), got /,
      );
    }
  });

  it("is shown as it may be written", () => {
    assert.deepEqual([8192, 1048576, 500].map(showSize), ["8KiB", "1MiB", "500 bytes"]);
    assert.equal(read(size({ max: 1048576 }), "2MiB"), 'must be at most 1MiB, got "2MiB"');
  });
});

describe("a boolean", () => {
  it("is true or false, and says what to write for the words of YAML 1.1", () => {
    assert.equal(read(bool(), true), true);
    assert.equal(read(bool(), "yes"), 'must be true or false, got "yes" (write `true`)');
    assert.equal(read(bool(), "ON"), 'must be true or false, got "ON" (write `true`)');
    assert.equal(read(bool(), "no"), 'must be true or false, got "no" (write `false`)');
    assert.equal(read(bool(), "off"), 'must be true or false, got "off" (write `false`)');
    assert.equal(read(bool(), "maybe"), 'must be true or false, got "maybe"');
    assert.equal(read(bool(), 1), "must be true or false, got 1");
  });
});

describe("text", () => {
  it("must not be blank where that is asked", () => {
    assert.equal(read(nonBlank(), " a "), " a ");
    assert.equal(read(nonBlank(), " \n"), "must not be blank");
    assert.equal(read(nonBlank(), 5), "must be text, got 5");
  });

  it("may have to be the name of a variable", () => {
    assert.equal(read(envName(), "REYN_TOKEN_1"), "REYN_TOKEN_1");
    assert.equal(read(envName(), "A-B"), 'must be the name of an environment variable, got "A-B"');
  });
});

describe("scalar schemas", () => {
  it("have a JSON schema of what may be written", () => {
    const schema = z.strictObject({
      wait: duration().prefault(10),
      cap: size().optional(),
      on: bool().optional(),
      text: nonBlank(),
      env: envName().optional(),
    });
    const json = z.toJSONSchema(schema, { io: "input" });
    assert.deepEqual(json.required, ["text"]);
    const wait = json.properties?.["wait"];
    assert.ok(typeof wait === "object" && wait.anyOf?.length === 2);
  });
});
