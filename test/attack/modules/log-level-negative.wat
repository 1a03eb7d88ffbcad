;; A line of a level that is an address.
;; ends: BadOutput a log line of level 4294967295
(module
  (import "wardlet1" "log" (func $log (param i32 i32 i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (call $log (i32.const -1) (i32.const 0) (i32.const 0))
    (i32.const 0)))
