;; It asks for more than there is, in numbers that wrap.
;; answers: allow
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.or
      (i32.or (i32.ne (memory.grow (i32.const -1)) (i32.const -1)) (i32.ne (memory.grow (i32.const 0x10000)) (i32.const -1)))
      (i32.or (i32.ne (memory.grow (i32.const 0xffff)) (i32.const -1)) (i32.ne (memory.grow (i32.const 0x80000000)) (i32.const -1))))))
