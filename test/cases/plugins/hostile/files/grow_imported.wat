(module
  (import "env" "memory" (memory 1 65536))
  (func (export "run") (result i32)
    (loop $l (br_if $l (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
    (memory.size)))
