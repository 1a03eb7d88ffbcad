;; Allows, and hands over: the list settings.warnings, the table settings.annotations, settings.explanation.
(module
  (import "wardlet1" "setting" (func $setting (param i32 i32 i32 i32) (result i32)))
  (import "wardlet1" "warn" (func $warn (param i32 i32)))
  (import "wardlet1" "annotate" (func $annotate (param i32 i32 i32 i32)))
  (import "wardlet1" "explain" (func $explain (param i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "warningsannotationsexplanation")
  (func (export "wardlet_abi_1_0"))
  ;; $read fetches a setting to 0x100, and gives its type.
  (func $read (param $name i32) (param $length i32) (result i32)
    (if (i32.lt_s (call $setting (local.get $name) (local.get $length) (i32.const 0x100) (i32.const 0x2000)) (i32.const 0))
      (then (return (i32.const 0))))
    (i32.load8_u (i32.const 0x100)))
  (func (export "wardlet_admit") (result i32)
    (local $at i32) (local $left i32) (local $value i32)
    ;; A list of strings: each has a type, a length and bytes.
    (if (i32.eq (call $read (i32.const 0) (i32.const 8)) (i32.const 5))
      (then
        (local.set $left (i32.load (i32.const 0x105)))
        (local.set $at (i32.const 0x109))
        (loop $warnings
          (if (local.get $left)
            (then
              (call $warn (i32.add (local.get $at) (i32.const 5)) (i32.load offset=1 (local.get $at)))
              (local.set $at (i32.add (i32.add (local.get $at) (i32.const 5)) (i32.load offset=1 (local.get $at))))
              (local.set $left (i32.sub (local.get $left) (i32.const 1)))
              (br $warnings))))))
    ;; A map of strings: lengths and bytes only.
    (if (i32.eq (call $read (i32.const 8) (i32.const 11)) (i32.const 6))
      (then
        (local.set $left (i32.load (i32.const 0x105)))
        (local.set $at (i32.const 0x109))
        (loop $annotations
          (if (local.get $left)
            (then
              (local.set $value (i32.add (i32.add (local.get $at) (i32.const 4)) (i32.load (local.get $at))))
              (call $annotate
                (i32.add (local.get $at) (i32.const 4)) (i32.load (local.get $at))
                (i32.add (local.get $value) (i32.const 4)) (i32.load (local.get $value)))
              (local.set $at (i32.add (i32.add (local.get $value) (i32.const 4)) (i32.load (local.get $value))))
              (local.set $left (i32.sub (local.get $left) (i32.const 1)))
              (br $annotations))))))
    (if (i32.eq (call $read (i32.const 19) (i32.const 11)) (i32.const 1))
      (then (call $explain (i32.const 0x105) (i32.load (i32.const 0x101)))))
    (i32.const 0)))
