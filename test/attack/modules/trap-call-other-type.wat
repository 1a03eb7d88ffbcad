;; It calls a function as one of another type, so that a number would become an address.
;; ends: Trap indirect call type mismatch
(module
  (memory (export "memory") 1)
  (table funcref (elem 0))
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (call_indirect (param i64 i64) (result i32) (i64.const -1) (i64.const -1) (i32.const 0))))
