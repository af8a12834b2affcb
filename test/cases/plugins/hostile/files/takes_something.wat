(module
  (func (export "run") (param i32) (result i32) (i32.const 0)))
