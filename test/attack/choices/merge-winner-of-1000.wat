;; The last one of 1 000 candidates wins, and behind it another.
;; candidates: 1000
;; merge answers: winner-999
;; merge fresh ends: BadOutput wardlet_merge names candidate 1000: there are 1000
(module
  (import "wardlet1" "field" (func $field (param i32 i32) (result i32)))
  (import "wardlet1" "get" (func $get (param i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (data (i32.const 8) "candidates[0].running")
  (func (export "wardlet_init") (result i32)
    (i32.ne (call $field (i32.const 8) (i32.const 21)) (i32.const 0)))
  (func (export "wardlet_merge") (result i32)
    ;; a bool: whether the first one runs
    (drop (call $get (i32.const 0) (i32.const 64) (i32.const 6)))
    (i32.sub (i32.const 1000) (i32.load8_u (i32.const 69)))))
