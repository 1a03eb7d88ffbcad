;; Random numbers, whose seed is all of 1 000 candidates.
;; candidates: 1000
;; merge ends: FuelExhausted the call took more than
(module
  (import "wasi_snapshot_preview1" "random_get" (func $random_get (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_merge") (result i32)
    (drop (call $random_get (i32.const 0) (i32.const 8)))
    (i32.const 0)))
