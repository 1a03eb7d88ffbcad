;; An update that is deferred until long ago.
;; filter ends: BadOutput a retry after -9223372036854775808 ms
(module
  (import "wardlet1" "retry_after_ms" (func $retry_after_ms (param i64)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_filter") (result i32)
    (call $retry_after_ms (i64.const 0x8000000000000000))
    (i32.const 2)))
