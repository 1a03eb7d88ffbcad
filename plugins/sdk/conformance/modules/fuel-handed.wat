;; What is handed over takes a unit for every 4 bytes: the setting's path and its value, also where that does not fit; a path that
;; is not taken now; a line that is logged, of which 4 KiB count at most; a value of 8 bytes.
(module
  (import "wardlet1" "setting" (func $setting (param i32 i32 i32 i32) (result i32)))
  (import "wardlet1" "path" (func $path (param i32 i32) (result i32)))
  (import "wardlet1" "field" (func $field (param i32 i32) (result i32)))
  (import "wardlet1" "get" (func $get (param i32 i32 i32) (result i32)))
  (import "wardlet1" "log" (func $log (param i32 i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "textobject.metadata.name")
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_init") (result i32) (call $field (i32.const 4) (i32.const 20)))
  (func (export "wardlet_admit") (result i32)
    (drop (call $setting (i32.const 0) (i32.const 4) (i32.const 64) (i32.const 100)))    ;; "text", and 12 bytes of value
    (drop (call $setting (i32.const 0) (i32.const 4) (i32.const 64) (i32.const 0)))      ;; the same: it does not fit
    (drop (call $setting (i32.const 0) (i32.const 3) (i32.const 64) (i32.const 100)))    ;; "tex" is no setting
    (drop (call $path (i32.const 4) (i32.const 20)))
    (drop (call $get (i32.const 0) (i32.const 64) (i32.const 100)))                      ;; "web"
    (call $log (i32.const 0) (i32.const 0) (i32.const 5000))
    (i32.const 0)))
