;; Lines of 4 KiB to the log, for ever.
;; ends: FuelExhausted the call took more than
(module
  (import "wardlet1" "log" (func $log (param i32 i32 i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (loop $again
      (call $log (i32.const 3) (i32.const 0) (i32.const 4096))
      (br $again))
    (unreachable)))
