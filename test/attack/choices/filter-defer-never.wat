;; An update that is deferred for 292 million years.
;; filter answers: defer-24h0m0s
(module
  (import "wardlet1" "retry_after_ms" (func $retry_after_ms (param i64)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_filter") (result i32)
    (call $retry_after_ms (i64.const 0x7fffffffffffffff))
    (i32.const 2)))
