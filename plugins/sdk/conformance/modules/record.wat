;; Declares settings.paths with path, and shows the record that the host writes.
(module
  (import "wardlet1" "setting" (func $setting (param i32 i32 i32 i32) (result i32)))
  (import "wardlet1" "path" (func $path (param i32 i32) (result i32)))
  (import "wardlet1" "explain" (func $explain (param i32 i32)))
  (memory (export "memory") 3)
  (data (i32.const 0) "0123456789abcdef")
  (data (i32.const 16) "paths")
  (data (i32.const 0x10000) "\00\80\00\00")    ;; the input area: capacity 32 KiB
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_init") (result i32)
    (local $at i32) (local $left i32) (local $handle i32)
    ;; A list: type, length, number of elements, then each: type, length, bytes.
    (drop (call $setting (i32.const 16) (i32.const 5) (i32.const 0x100) (i32.const 0xff00)))
    (local.set $left (i32.load (i32.const 0x105)))
    (local.set $at (i32.const 0x109))
    (loop $paths
      (if (local.get $left)
        (then
          (local.set $handle (call $path (i32.add (local.get $at) (i32.const 5)) (i32.load offset=1 (local.get $at))))
          (if (i32.lt_s (local.get $handle) (i32.const 0)) (then (return (local.get $handle))))
          (local.set $at (i32.add (i32.add (local.get $at) (i32.const 5)) (i32.load offset=1 (local.get $at))))
          (local.set $left (i32.sub (local.get $left) (i32.const 1)))
          (br $paths))))
    (i32.const 0))
  (func (export "wardlet_input") (result i32) (i32.const 0x10000))
  ;; $show gives bytes as the explanation, in hexadecimal digits.
  (func $show (param $from i32) (param $length i32)
    (local $i i32) (local $to i32)
    (local.set $to (i32.const 0x20000))
    (block $done
      (loop $byte
        (br_if $done (i32.eq (local.get $i) (local.get $length)))
        (i32.store8 (local.get $to)
          (i32.load8_u (i32.shr_u (i32.load8_u (i32.add (local.get $from) (local.get $i))) (i32.const 4))))
        (i32.store8 offset=1 (local.get $to)
          (i32.load8_u (i32.and (i32.load8_u (i32.add (local.get $from) (local.get $i))) (i32.const 15))))
        (local.set $to (i32.add (local.get $to) (i32.const 2)))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $byte)))
    (call $explain (i32.const 0x20000) (i32.mul (local.get $length) (i32.const 2))))
  (func $hook (result i32)
    (call $show (i32.const 0x10008) (i32.load (i32.const 0x10004)))
    (i32.const 0))
  (func (export "wardlet_admit") (result i32) (call $hook))
  (func (export "wardlet_merge") (result i32) (call $hook))
  (func (export "wardlet_filter") (result i32) (call $hook))
  (func (export "wardlet_connect") (result i32) (call $hook)))
