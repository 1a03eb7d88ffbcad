;; A mutable global of type externref.
;; refused: AbiMismatch it is mutable and of type externref
(module
  (memory (export "memory") 1)
  (global $a (mut externref) (ref.null extern))
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (global.set $a (ref.null extern))
    (i32.const 0)))
