import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compileTemplate } from "../../src/template/mod.ts";
import { problem, rendered, text } from "./helpers.ts";

const NAMES = [
  "constructor",
  "__proto__",
  "prototype",
  "toString",
  "valueOf",
  "hasOwnProperty",
  "__class__",
  "__globals__",
  "length",
];

describe("a template", () => {
  it("reaches nothing that its data does not have as fields", () => {
    const variables = { s: "text", n: 1, f: 1.5, b: true, l: [1], m: { a: 1 }, z: null };
    for (const variable of Object.keys(variables)) {
      for (const name of NAMES) {
        for (
          const source of [
            `{{ ${variable}.${name} }}`,
            `{{ ${variable}['${name}'] }}`,
            `{{ ${variable} | attr('${name}') }}`,
          ]
        ) {
          assert.equal(text(source, variables, { strict: false }), "", source);
        }
        const mapped = `{{ [${variable}] | map(attribute='${name}') | join }}`;
        assert.equal(text(mapped, variables, { strict: false }), "", mapped);
      }
    }
    for (const name of NAMES) assert.equal(text(`{{ ${name} }}`, {}, { strict: false }), "", name);
  });

  it("reaches fields with such names where the data has them itself", () => {
    const data: unknown = JSON.parse('{"constructor": 1, "__proto__": 2, "toString": 3}');
    assert.equal(text("{{ d.constructor }}{{ d.__proto__ }}{{ d['toString'] }}", { d: data }), "123");
  });

  it("can call neither data nor what hangs on data", () => {
    for (
      const source of [
        "{{ ''.constructor.constructor('return process')() }}",
        "{{ x.constructor('return process') }}",
        "{{ x.toString() }}",
        "{{ x.__proto__.__defineGetter__('a', x) }}",
        "{{ range.constructor('return 1')() }}",
        "{{ x() }}",
        "{{ x.y() }}",
        "{{ (x)() }}",
        "{{ x['y']() }}",
        "{{ namespace().constructor() }}",
        "{{ ().__class__.__bases__[0].__subclasses__() }}",
        "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
        "{% include '/etc/passwd' %}",
        "{% import 'os' as os %}",
        "{% extends 'x' %}",
      ]
    ) assert.notEqual(problem(source).message, "", source);
  });

  it("takes functions and symbols in its data for nothing", () => {
    const variables = { f: () => "called", s: Symbol("s"), m: { f: () => "called" } };
    assert.equal(text("{{ f }}{{ s }}{{ m.f }}", variables, { strict: false }), "");
    assert.equal(rendered("{{ [m] }}", variables).ok, false);
  });

  it("assigns to its own names and namespaces only", () => {
    const user = { name: "eve" };
    assert.equal(rendered("{% set user.name = 'x' %}", { user }).ok, false);
    assert.equal(rendered("{% set loop.index = 'x' %}", { loop: {} }).ok, false);
    assert.equal(
      text("{% set n = namespace() %}{% set n.__proto__ = 5 %}{{ n.__proto__ }}{{ m.x }}", { m: {} }, {
        strict: false,
      }),
      "5",
    );
    assert.equal(text("{{ {'__proto__': {'x': 1}}.x }}{{ dict(__proto__=1).x }}", {}, { strict: false }), "");
    assert.deepEqual(user, { name: "eve" });
    assert.equal(Object.hasOwn(Object.prototype, "x"), false);
  });

  it("never throws, whatever it is given", () => {
    const trap = new Proxy({}, {
      get() {
        throw new Error("trap");
      },
      ownKeys() {
        throw new Error("trap");
      },
    });
    assert.equal(rendered("{{ t }}{{ t.a }}", { t: trap }).ok, false);
    assert.equal(rendered("{{ a }}", trap).ok, false);
    assert.equal(rendered("{{ b + 1 }}", { b: 5n }).ok, false);
    let seed = 7;
    const pick = (from: string) => from[(seed = seed * 48271 % 2147483647) % from.length] ?? "";
    for (let round = 0; round < 3000; round += 1) {
      let source = "";
      for (let length = 0; length < 24; length += 1) {
        source += pick("{{{%%%}}}##-+ ab.|()[]'\"\\,:=<>!~*/1209_ \nifnot");
      }
      const compiled = compileTemplate(source, { strict: false });
      if (compiled.ok) compiled.template.render({ a: 1, b: "x" });
    }
  });
});
