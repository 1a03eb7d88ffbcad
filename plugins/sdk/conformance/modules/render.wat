;; Explains a value, written as text: missing, a string as it is, true or false, an integer in decimal, a list as [a,b], a map
;; as {k=v,k=v}, JSON as it is. settings.from says whether it is the field of the path settings.show, or the setting of that
;; path: "field" and "lazy" are fetched with get here, a guest may read the former from its record.
(module
  (import "wardlet1" "setting" (func $setting (param i32 i32 i32 i32) (result i32)))
  (import "wardlet1" "field" (func $field (param i32 i32) (result i32)))
  (import "wardlet1" "get" (func $get (param i32 i32 i32) (result i32)))
  (import "wardlet1" "explain" (func $explain (param i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "fromshowmissingtruefalse")
  (global $to (mut i32) (i32.const 0x8000))    ;; where the next byte of text goes
  (global $from (mut i32) (i32.const 0))       ;; the first letter of settings.from
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_init") (result i32)
    (drop (call $setting (i32.const 0) (i32.const 4) (i32.const 0x100) (i32.const 64)))
    (global.set $from (i32.load8_u (i32.const 0x105)))
    (drop (call $setting (i32.const 4) (i32.const 4) (i32.const 0x100) (i32.const 1024)))    ;; it stays there
    (if (i32.ne (global.get $from) (i32.const 115))    ;; s
      (then (return (call $field (i32.const 0x105) (i32.load (i32.const 0x101))))))
    (i32.const 0))
  (func $char (param $c i32)
    (i32.store8 (global.get $to) (local.get $c))
    (global.set $to (i32.add (global.get $to) (i32.const 1))))
  (func $text (param $at i32) (param $length i32)
    (memory.copy (global.get $to) (local.get $at) (local.get $length))
    (global.set $to (i32.add (global.get $to) (local.get $length))))
  (func $digits (param $n i64)
    (if (i64.ge_u (local.get $n) (i64.const 10))
      (then (call $digits (i64.div_u (local.get $n) (i64.const 10)))))
    (call $char (i32.add (i32.const 48) (i32.wrap_i64 (i64.rem_u (local.get $n) (i64.const 10))))))
  (func $integer (param $n i64)
    (if (i64.lt_s (local.get $n) (i64.const 0))
      (then
        (call $char (i32.const 45))
        (local.set $n (i64.sub (i64.const 0) (local.get $n)))))
    (call $digits (local.get $n)))
  ;; $list and $map get the place of the number of elements.
  (func $list (param $at i32)
    (local $left i32)
    (local.set $left (i32.load (local.get $at)))
    (local.set $at (i32.add (local.get $at) (i32.const 4)))
    (call $char (i32.const 91))
    (loop $elements
      (if (local.get $left)
        (then
          (call $value (local.get $at))
          (local.set $at (i32.add (i32.add (local.get $at) (i32.const 5)) (i32.load offset=1 (local.get $at))))
          (if (local.tee $left (i32.sub (local.get $left) (i32.const 1)))
            (then (call $char (i32.const 44))))
          (br $elements))))
    (call $char (i32.const 93)))
  (func $map (param $at i32)
    (local $left i32)
    (local.set $left (i32.load (local.get $at)))
    (local.set $at (i32.add (local.get $at) (i32.const 4)))
    (call $char (i32.const 123))
    (loop $entries
      (if (local.get $left)
        (then
          (call $text (i32.add (local.get $at) (i32.const 4)) (i32.load (local.get $at)))
          (call $char (i32.const 61))
          (local.set $at (i32.add (i32.add (local.get $at) (i32.const 4)) (i32.load (local.get $at))))
          (call $text (i32.add (local.get $at) (i32.const 4)) (i32.load (local.get $at)))
          (local.set $at (i32.add (i32.add (local.get $at) (i32.const 4)) (i32.load (local.get $at))))
          (if (local.tee $left (i32.sub (local.get $left) (i32.const 1)))
            (then (call $char (i32.const 44))))
          (br $entries))))
    (call $char (i32.const 125)))
  (func $value (param $at i32)
    (local $bytes i32) (local $length i32)
    (local.set $bytes (i32.add (local.get $at) (i32.const 5)))
    (local.set $length (i32.load offset=1 (local.get $at)))
    (block $map
      (block $list
        (block $integer
          (block $bool
            (block $text
              (block $missing
                (br_table $missing $text $bool $integer $missing $list $map $text (i32.load8_u (local.get $at))))
              (call $text (i32.const 8) (i32.const 7))
              (return))
            (call $text (local.get $bytes) (local.get $length))
            (return))
          (if (i32.load8_u (local.get $bytes))
            (then (call $text (i32.const 15) (i32.const 4)))
            (else (call $text (i32.const 19) (i32.const 5))))
          (return))
        (call $integer (i64.load (local.get $bytes)))
        (return))
      (call $list (local.get $bytes))
      (return))
    (call $map (local.get $bytes)))
  (func $hook (result i32)
    (if (i32.eq (global.get $from) (i32.const 115))
      (then
        (if (i32.lt_s
              (call $setting (i32.const 0x105) (i32.load (i32.const 0x101)) (i32.const 0x1000) (i32.const 0x1000))
              (i32.const 0))
          (then (i32.store8 (i32.const 0x1000) (i32.const 0)))))
      (else (drop (call $get (i32.const 0) (i32.const 0x1000) (i32.const 0x1000)))))
    (call $value (i32.const 0x1000))
    (call $explain (i32.const 0x8000) (i32.sub (global.get $to) (i32.const 0x8000)))
    (i32.const 0))
  (func (export "wardlet_admit") (result i32) (call $hook))
  (func (export "wardlet_merge") (result i32) (call $hook))
  (func (export "wardlet_filter") (result i32) (call $hook))
  (func (export "wardlet_connect") (result i32) (call $hook)))
