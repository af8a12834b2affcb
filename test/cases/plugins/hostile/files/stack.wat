(module
  (memory (export "memory") 1)
  (func $deep (result i32) (i32.add (call $deep) (i32.const 1)))
  (func (export "run") (result i32) (call $deep)))
