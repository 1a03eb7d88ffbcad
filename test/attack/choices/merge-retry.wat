;; A time to come back at, of a hook that has none: it has no effect.
;; merge answers: winner-1
(module
  (import "wardlet1" "retry_after_ms" (func $retry_after_ms (param i64)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_merge") (result i32)
    (call $retry_after_ms (i64.const 0x7fffffffffffffff))
    (i32.const 1)))
