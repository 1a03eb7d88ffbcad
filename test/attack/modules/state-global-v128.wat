;; A mutable global of type v128.
;; refused: AbiMismatch it is mutable and of type v128
(module
  (memory (export "memory") 1)
  (global $a (mut v128) (v128.const i64x2 0 0))
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (global.set $a (v128.const i64x2 -1 -1))
    (i32.const 0)))
