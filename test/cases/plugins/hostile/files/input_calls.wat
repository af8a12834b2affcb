(module
  (import "extism:host/env" "input_length" (func $input_length (result i64)))
  (memory (export "memory") 1)
  (func (export "run") (result i32) (loop $l (drop (call $input_length)) (br $l)) (i32.const 0)))
