;; A time that has passed, of a hook that has none: it is looked at all the same.
;; merge ends: BadOutput a retry after -1 ms
(module
  (import "wardlet1" "retry_after_ms" (func $retry_after_ms (param i64)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_merge") (result i32)
    (call $retry_after_ms (i64.const -1))
    (i32.const 1)))
