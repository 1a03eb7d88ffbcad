;; The annotations of 1 000 candidates, 64 MB, before it is even called.
;; candidates: 1000
;; pages: 20
;; merge ends: InputTooLarge the declared fields take more than 1048576 bytes
(module
  (import "wardlet1" "path" (func $path (param i32 i32) (result i32)))
  (memory (export "memory") 20)
  (func (export "wardlet_abi_1_0"))
  (data (i32.const 8) "candidates[*].object.metadata.annotations")
  (data (i32.const 1024) "\00\00\12\00") ;; the input area, of more than a MiB
  (func (export "wardlet_init") (result i32)
    (i32.ne (call $path (i32.const 8) (i32.const 41)) (i32.const 0)))
  (func (export "wardlet_input") (result i32) (i32.const 1024))
  (func (export "wardlet_merge") (result i32)
    (i32.const 0)))
