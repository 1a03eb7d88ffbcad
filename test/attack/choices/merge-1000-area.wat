;; The documents of 1 000 candidates, in an area of 512 bytes.
;; candidates: 1000
;; merge ends: InputTooLarge the plugin's input area has 512
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
    (i32.const 0)))
