(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (memory (export "memory") 1)
  (func (export "run") (result i32) (loop $l (drop (call $alloc (i64.const 1048576))) (br $l)) (i32.const 0)))
