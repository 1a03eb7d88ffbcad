;; Logs a line of settings.bytes letters at settings.level, settings.times times. It does not ask whether lines of that level
;; are taken.
(module
  (import "wardlet1" "setting" (func $setting (param i32 i32 i32 i32) (result i32)))
  (import "wardlet1" "log" (func $log (param i32 i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "levelbytestimes")
  (func (export "wardlet_abi_1_0"))
  (func $number (param $name i32) (result i32)
    (drop (call $setting (local.get $name) (i32.const 5) (i32.const 16) (i32.const 13)))
    (i32.load (i32.const 21)))
  (func (export "wardlet_admit") (result i32)
    (local $left i32)
    (memory.fill (i32.const 0x1000) (i32.const 97) (call $number (i32.const 5)))
    (local.set $left (call $number (i32.const 10)))
    (loop $lines
      (call $log (call $number (i32.const 0)) (i32.const 0x1000) (call $number (i32.const 5)))
      (br_if $lines (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))
    (i32.const 0)))
