import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { rateLimiter } from "../../src/hooks/rate_limiter.ts";

describe("rateLimiter()", () => {
  it("admits its count at once and says once that it limits", () => {
    const limiter = rateLimiter({ count: 2, perMs: 1000 });
    assert.deepEqual([limiter.admit(0), limiter.admit(0)], [{ admitted: true }, { admitted: true }]);
    assert.deepEqual(limiter.admit(1), { admitted: false, first: true });
    assert.deepEqual(limiter.admit(2), { admitted: false, first: false });
  });

  it("refills evenly, and a later refusal is a new episode", () => {
    const limiter = rateLimiter({ count: 2, perMs: 1000 });
    limiter.admit(0);
    limiter.admit(0);
    limiter.admit(1);
    assert.deepEqual(limiter.admit(501), { admitted: true });
    assert.deepEqual(limiter.admit(502), { admitted: false, first: true });
  });

  it("never saves up more than its count, and time going back gives nothing", () => {
    const limiter = rateLimiter({ count: 1, perMs: 1000 });
    assert.equal(limiter.admit(1_000_000).admitted, true);
    assert.equal(limiter.admit(0).admitted, false);
    assert.equal(limiter.admit(999).admitted, false);
  });
});
