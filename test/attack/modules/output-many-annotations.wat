;; Annotations under new keys, for ever.
;; ends: BadOutput more than 64 annotations
(module
  (import "wardlet1" "annotate" (func $annotate (param i32 i32 i32 i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32) (local $n i32)
    (loop $again
      (i32.store (i32.const 0) (i32.add (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 0x20202020)))
      (call $annotate (i32.const 0) (i32.const 4) (i32.const 0) (i32.const 0))
      (br $again))
    (unreachable)))
