;; The annotations of 1 000 candidates, 64 MB, fetched again and again.
;; candidates: 1000
;; fuel: 1000000
;; merge ends: FuelExhausted the call took more than
(module
  (import "wardlet1" "field" (func $field (param i32 i32) (result i32)))
  (import "wardlet1" "get" (func $get (param i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (data (i32.const 8) "candidates[*].object.metadata.annotations")
  (func (export "wardlet_init") (result i32)
    (i32.ne (call $field (i32.const 8) (i32.const 41)) (i32.const 0)))
  (func (export "wardlet_merge") (result i32)
    (loop $again
      (drop (call $get (i32.const 0) (i32.const 0) (i32.const 0)))
      (br $again))
    (i32.const 0)))
