;; A call of a function of the host takes 4 units as a call, and 100.
(module
  (import "wardlet1" "log_enabled" (func $log_enabled (param i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (drop (call $log_enabled (i32.const 0)))
    (drop (call $log_enabled (i32.const 9)))
    (i32.const 0)))
