;; Buffers of which only the begin lies in the memory.
;; get ends: BadOutput bytes at 0xffff, its memory has 65536
;; json ends: BadOutput bytes at 0xffff, its memory has 65536
;; setting ends: BadOutput bytes at 0xffff, its memory has 65536
(module
  (import "wardlet1" "path" (func $path (param i32 i32) (result i32)))
  (import "wardlet1" "get" (func $get (param i32 i32 i32) (result i32)))
  (import "wardlet1" "json" (func $json (param i32 i32 i32) (result i32)))
  (import "wardlet1" "setting" (func $setting (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 8) "object.spec.containers[*].image")
  (data (i32.const 1024) "\00\02\00\00") ;; the input area, of 512 bytes
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_init") (result i32)
    (drop (call $path (i32.const 8) (i32.const 31)))
    (i32.const 0))
  (func (export "wardlet_input") (result i32) (i32.const 1024))
  (data (i32.const 40) "greeting")
  ;; the first two letters of the image
  (func $letters (result i32) (i32.load16_u (i32.const 1050)))
  (func (export "wardlet_admit") (result i32)
    (if (i32.eq (call $letters) (i32.const 25959)) ;; get
      (then (drop (call $get (i32.const 0) (i32.const 65535) (i32.const -1)))))
    (if (i32.eq (call $letters) (i32.const 29546)) ;; json
      (then (drop (call $json (i32.const 1) (i32.const 65535) (i32.const -1)))))
    (if (i32.eq (call $letters) (i32.const 25971)) ;; setting
      (then (drop (call $setting (i32.const 40) (i32.const 8) (i32.const 65535) (i32.const -1)))))
    (i32.const 0)))
