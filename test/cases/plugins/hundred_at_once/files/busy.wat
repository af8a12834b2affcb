(module
  (import "extism:host/user" "now" (func $now (result i64)))
  ;; Counts to forty million, which takes some milliseconds.
  (func (export "run") (result i32)
    (local $i i32)
    (drop (call $now))
    (loop $next
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $i) (i32.const 20000000))))
    (i32.const 0)))
