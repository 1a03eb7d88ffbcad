;; It exports functions of the host for others, and calls them through a table.
;; answers: deny Fooled hello
(module
  (import "wardlet1" "reason" (func $reason (param i32 i32 i32 i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (data (i32.const 8) "Fooledhello")
  (export "wardlet1" (func $reason))
  (table (export "functions") funcref (elem $reason))
  (func (export "wardlet_admit") (result i32)
    (call_indirect (param i32 i32 i32 i32) (i32.const 8) (i32.const 6) (i32.const 14) (i32.const 5) (i32.const 0))
    (i32.const 1)))
