;; Logs settings.line at settings.level, if log_enabled says that such lines are taken.
(module
  (import "wardlet1" "setting" (func $setting (param i32 i32 i32 i32) (result i32)))
  (import "wardlet1" "log" (func $log (param i32 i32 i32)))
  (import "wardlet1" "log_enabled" (func $log_enabled (param i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "levelline")
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (drop (call $setting (i32.const 0) (i32.const 5) (i32.const 16) (i32.const 13)))
    (drop (call $setting (i32.const 5) (i32.const 4) (i32.const 0x100) (i32.const 0x1000)))
    (if (call $log_enabled (i32.load (i32.const 21)))
      (then (call $log (i32.load (i32.const 21)) (i32.const 0x105) (i32.load (i32.const 0x101)))))
    (i32.const 0)))
