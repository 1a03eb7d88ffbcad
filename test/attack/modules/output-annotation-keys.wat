;; Annotations without a key, and with one that is too long.
;; ends: BadOutput an annotation's key of 0 bytes
(module
  (import "wardlet1" "annotate" (func $annotate (param i32 i32 i32 i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (call $annotate (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 1))
    (i32.const 0)))
