;; Pointers behind the memory, to every function of the host that reads.
;; reason ends: BadOutput the plugin names 1 bytes at 0x10000, its memory has 65536
;; warn ends: BadOutput the plugin names 1 bytes at 0x10000, its memory has 65536
;; note ends: BadOutput the plugin names 1 bytes at 0x10000, its memory has 65536
;; value ends: BadOutput the plugin names 1 bytes at 0x10000, its memory has 65536
;; explain ends: BadOutput the plugin names 1 bytes at 0x10000, its memory has 65536
;; diff ends: BadOutput the plugin names 1 bytes at 0x10000, its memory has 65536
;; log ends: BadOutput the plugin names 1 bytes at 0x10000, its memory has 65536
;; setting ends: BadOutput the plugin names 1 bytes at 0x10000, its memory has 65536
;; path ends: BadOutput the plugin names 1 bytes at 0x10000, its memory has 65536
;; field ends: BadOutput the plugin names 1 bytes at 0x10000, its memory has 65536
(module
  (import "wardlet1" "path" (func $path (param i32 i32) (result i32)))
  (import "wardlet1" "reason" (func $reason (param i32 i32 i32 i32)))
  (import "wardlet1" "warn" (func $warn (param i32 i32)))
  (import "wardlet1" "annotate" (func $annotate (param i32 i32 i32 i32)))
  (import "wardlet1" "explain" (func $explain (param i32 i32)))
  (import "wardlet1" "patch" (func $patch (param i32 i32)))
  (import "wardlet1" "log" (func $log (param i32 i32 i32)))
  (import "wardlet1" "setting" (func $setting (param i32 i32 i32 i32) (result i32)))
  (import "wardlet1" "get" (func $get (param i32 i32 i32) (result i32)))
  (import "wardlet1" "json" (func $json (param i32 i32 i32) (result i32)))
  (import "wardlet1" "field" (func $field (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 8) "object.spec.containers[*].image")
  (data (i32.const 1024) "\00\02\00\00") ;; the input area, of 512 bytes
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_init") (result i32)
    (drop (call $path (i32.const 8) (i32.const 31)))
    (i32.const 0))
  (func (export "wardlet_input") (result i32) (i32.const 1024))
  ;; the first two letters of the image
  (func $letters (result i32) (i32.load16_u (i32.const 1050)))
  (func (export "wardlet_admit") (result i32)
    (if (i32.eq (call $letters) (i32.const 25970)) ;; reason
      (then (call $reason (i32.const 0) (i32.const 0) (i32.const 65536) (i32.const 1))))
    (if (i32.eq (call $letters) (i32.const 24951)) ;; warn
      (then (call $warn (i32.const 65536) (i32.const 1))))
    (if (i32.eq (call $letters) (i32.const 28526)) ;; note
      (then (call $annotate (i32.const 65536) (i32.const 1) (i32.const 0) (i32.const 1))))
    (if (i32.eq (call $letters) (i32.const 24950)) ;; value
      (then (call $annotate (i32.const 8) (i32.const 1) (i32.const 65536) (i32.const 1))))
    (if (i32.eq (call $letters) (i32.const 30821)) ;; explain
      (then (call $explain (i32.const 65536) (i32.const 1))))
    (if (i32.eq (call $letters) (i32.const 26980)) ;; diff
      (then (call $patch (i32.const 65536) (i32.const 1))))
    (if (i32.eq (call $letters) (i32.const 28524)) ;; log
      (then (call $log (i32.const 1) (i32.const 65536) (i32.const 1))))
    (if (i32.eq (call $letters) (i32.const 25971)) ;; setting
      (then (drop (call $setting (i32.const 65536) (i32.const 1) (i32.const 0) (i32.const 0)))))
    (if (i32.eq (call $letters) (i32.const 24944)) ;; path
      (then (drop (call $path (i32.const 65536) (i32.const 1)))))
    (if (i32.eq (call $letters) (i32.const 26982)) ;; field
      (then (drop (call $field (i32.const 65536) (i32.const 1)))))
    (i32.const 0)))
