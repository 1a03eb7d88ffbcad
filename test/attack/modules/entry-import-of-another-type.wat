;; A function of the host, of another type than it has.
;; refused: AbiMismatch imports reason of wardlet1
(module
  (import "wardlet1" "reason" (func (param i64)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32) (i32.const 0)))
