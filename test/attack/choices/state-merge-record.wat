;; A record that is long in a merge, and looked for behind the short one of another hook.
;; merge write answers: winner-0
;; look answers: allow
(module
  (import "wardlet1" "path" (func $path (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (data (i32.const 8) "candidates[*].document")
  (data (i32.const 1024) "\00\02\00\00") ;; the input area, of 512 bytes
  (func (export "wardlet_init") (result i32)
    (i32.ne (call $path (i32.const 8) (i32.const 22)) (i32.const 0)))
  (func (export "wardlet_input") (result i32) (i32.const 1024))
  (func (export "wardlet_merge") (result i32)
    (i32.const 0))
  (func (export "wardlet_admit") (result i32)
    ;; two bytes of count, two of the handle, an empty list of nine
    (i32.or (i32.ne (i32.load (i32.const 1028)) (i32.const 13))
      (i32.or (i32.load (i32.const 1045)) (i32.load (i32.const 1060))))))
