(module
  (import "extism:host/user" "now" (func (result i32)))
  (func (export "run") (result i32) (i32.const 0)))
