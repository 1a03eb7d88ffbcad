;; A time that comes with another answer: it has no effect.
;; filter answers: drop
(module
  (import "wardlet1" "retry_after_ms" (func $retry_after_ms (param i64)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_filter") (result i32)
    (call $retry_after_ms (i64.const 5))
    (i32.const 1)))
