;; Documents and fields of candidates, fetched in a merge and looked for by the other hooks.
;; merge write answers: winner-0
;; look answers: allow
;; filter look answers: pass
(module
  (import "wardlet1" "field" (func $field (param i32 i32) (result i32)))
  (import "wardlet1" "get" (func $get (param i32 i32 i32) (result i32)))
  (import "wardlet1" "json" (func $json (param i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (data (i32.const 8) "candidates[*].document")
  (func (export "wardlet_init") (result i32)
    (i32.ne (call $field (i32.const 8) (i32.const 22)) (i32.const 0)))
  (func $found (result i32)
    (i32.or (i32.or (i32.ne (call $get (i32.const 0) (i32.const 0) (i32.const 0)) (i32.const 9))
      (i32.ne (call $json (i32.const 16) (i32.const 0) (i32.const 0)) (i32.const -1)))
      (i32.or (i32.ne (call $json (i32.const 17) (i32.const 0) (i32.const 0)) (i32.const -1))
      (i32.ne (call $json (i32.const 18) (i32.const 0) (i32.const 0)) (i32.const -1)))))
  (func (export "wardlet_merge") (result i32)
    (drop (call $get (i32.const 0) (i32.const 64) (i32.const 512)))
    (drop (call $json (i32.const 16) (i32.const 1024) (i32.const 0)))
    (i32.const 0))
  (func (export "wardlet_admit") (result i32)
    (call $found))
  (func (export "wardlet_filter") (result i32)
    (call $found)))
