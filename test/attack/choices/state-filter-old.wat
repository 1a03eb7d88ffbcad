;; The version before, fetched by a filter and looked for by a question that has none.
;; filter write answers: pass
;; look answers: allow
(module
  (import "wardlet1" "json" (func $json (param i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_filter") (result i32)
    (i32.lt_s (call $json (i32.const 2) (i32.const 0) (i32.const 0)) (i32.const 0)))
  (func (export "wardlet_admit") (result i32)
    (i32.ne (call $json (i32.const 2) (i32.const 0) (i32.const 0)) (i32.const -1))))
