;; An annotation under one key of one byte, again and again: each counts.
;; ends: BadOutput the plugin put out more than its policy allows
(module
  (import "wardlet1" "annotate" (func $annotate (param i32 i32 i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 8) "k")
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (loop $again
      (call $annotate (i32.const 8) (i32.const 1) (i32.const 0) (i32.const 64))
      (br $again))
    (unreachable)))
