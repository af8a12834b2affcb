(module
  ;; Traps when the event holds a "!".
  (import "extism:host/env" "input_length" (func $length (result i64)))
  (import "extism:host/env" "input_load_u8" (func $byte (param i64) (result i32)))
  (func (export "run") (result i32) (local $i i64)
    (loop $next
      (if (i32.eq (call $byte (local.get $i)) (i32.const 33)) (then (unreachable)))
      (local.set $i (i64.add (local.get $i) (i64.const 1)))
      (br_if $next (i64.lt_u (local.get $i) (call $length))))
    (i32.const 0)))
