(module
  (memory (export "memory") 1)
  (func (export "run") (result i32) (loop $l (br_if $l (i32.ne (memory.grow (i32.const 64)) (i32.const -1)))) (unreachable)))
