(module
  (memory (export "memory") 1)
  (func $begin (loop $l (br $l))) (start $begin)
  (func (export "run") (result i32) (i32.const 0)))
