;; It writes where the host might be.
;; ends: Trap out of bounds memory access
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i64.store offset=0xffffffff align=1 (i32.const -1) (i64.const -1))
    (i32.const 0)))
