;; Each function the host calls while it loads a plugin adds its digit: the hook shows the order they were called in.
(module
  (import "wardlet1" "explain" (func $explain (param i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 0x100) "\00\01\00\00")    ;; the input area, of 256 bytes
  (global $calls (mut i32) (i32.const 0))
  (func (export "wardlet_abi_1_0") unreachable)
  (func $called (param $digit i32) (result i32)
    (i32.store8 (global.get $calls) (local.get $digit))
    (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
    (i32.const 0))
  (func (export "_initialize") (drop (call $called (i32.const 49))))                      ;; 1
  (func (export "wardlet_validate_settings") (result i32) (call $called (i32.const 50)))  ;; 2
  (func (export "wardlet_init") (result i32) (call $called (i32.const 51)))               ;; 3
  (func (export "wardlet_input") (result i32)                                             ;; 4
    (drop (call $called (i32.const 52)))
    (i32.const 0x100))
  (func (export "wardlet_merge") (result i32) unreachable)   ;; a hook that no policy names is not called
  (func (export "wardlet_admit") (result i32)
    (call $explain (i32.const 0) (global.get $calls))
    (i32.const 0)))
