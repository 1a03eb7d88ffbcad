;; features: exceptions
;; There are no exceptions.
(module
  (import "wardlet1" "tag" (tag (param i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32) (i32.const 0)))
