;; Explanations without a byte, for ever, and times to come back at.
;; ends: FuelExhausted the call took more than
(module
  (import "wardlet1" "explain" (func $explain (param i32 i32)))
  (import "wardlet1" "retry_after_ms" (func $retry_after_ms (param i64)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (loop $again
      (call $explain (i32.const 0) (i32.const 0))
      (call $retry_after_ms (i64.const 0x7fffffffffffffff))
      (br $again))
    (unreachable)))
