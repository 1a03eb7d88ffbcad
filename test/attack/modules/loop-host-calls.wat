;; A loop that does nothing but ask the host.
;; ends: FuelExhausted the call took more than
(module
  (import "wardlet1" "log_enabled" (func $log_enabled (param i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (loop $again
      (drop (call $log_enabled (i32.const 1)))
      (br $again))
    (unreachable)))
