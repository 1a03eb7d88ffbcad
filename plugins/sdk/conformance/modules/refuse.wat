;; settings.at says where the settings are refused: "validate" or "init". settings.message is why.
(module
  (import "wardlet1" "setting" (func $setting (param i32 i32 i32 i32) (result i32)))
  (import "wardlet1" "reason" (func $reason (param i32 i32 i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "atmessage")
  (func (export "wardlet_abi_1_0"))
  ;; $refused says why and gives 1 if settings.at begins with a letter.
  (func $refused (param $letter i32) (result i32)
    (drop (call $setting (i32.const 0) (i32.const 2) (i32.const 0x100) (i32.const 64)))
    (if (i32.ne (i32.load8_u (i32.const 0x105)) (local.get $letter))
      (then (return (i32.const 0))))
    (drop (call $setting (i32.const 2) (i32.const 7) (i32.const 0x200) (i32.const 1024)))
    (call $reason (i32.const 0) (i32.const 0) (i32.const 0x205) (i32.load (i32.const 0x201)))
    (i32.const 1))
  (func (export "wardlet_validate_settings") (result i32) (call $refused (i32.const 118)))   ;; v
  (func (export "wardlet_init") (result i32) (call $refused (i32.const 105)))                ;; i
  (func (export "wardlet_admit") (result i32) (i32.const 0)))
