;; It answers with what json says of a candidate that there is not, which means to keep what runs, of no candidates at all.
;; candidates: 0
;; merge ends: BadOutput none of the 0 candidates runs
(module
  (import "wardlet1" "json" (func $json (param i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_merge") (result i32)
    (call $json (i32.const 16) (i32.const 0) (i32.const 0))))
