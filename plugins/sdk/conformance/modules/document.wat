;; The explanation is the document of the number settings.document, as json gives it, or "none". The text is asked for twice:
;; without room, and then with as much as it needs.
(module
  (import "wardlet1" "setting" (func $setting (param i32 i32 i32 i32) (result i32)))
  (import "wardlet1" "json" (func $json (param i32 i32 i32) (result i32)))
  (import "wardlet1" "explain" (func $explain (param i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "documentnone")
  (func (export "wardlet_abi_1_0"))
  (func $hook (result i32)
    (local $number i32) (local $length i32)
    (drop (call $setting (i32.const 0) (i32.const 8) (i32.const 16) (i32.const 13)))
    (local.set $number (i32.load (i32.const 21)))
    (local.set $length (call $json (local.get $number) (i32.const 0) (i32.const 0)))
    (if (i32.lt_s (local.get $length) (i32.const 0))
      (then (call $explain (i32.const 8) (i32.const 4)))
      (else
        (drop (call $json (local.get $number) (i32.const 0x100) (local.get $length)))
        (call $explain (i32.const 0x100) (local.get $length))))
    (i32.const 0))
  (func (export "wardlet_admit") (result i32) (call $hook))
  (func (export "wardlet_merge") (result i32) (call $hook)))
