(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (memory (export "memory") 1)
  (func (export "run") (result i32) (local $b i64) (local.set $b (call $alloc (i64.const 104857600))) (call $output_set (local.get $b) (i64.const 104857600)) (i32.const 0)))
