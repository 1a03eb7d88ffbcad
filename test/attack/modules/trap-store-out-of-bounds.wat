;; It writes behind its memory.
;; ends: Trap out of bounds memory access
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i64.store (i32.const 0xfff9) (i64.const -1))
    (i32.const 0)))
