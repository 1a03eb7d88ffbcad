;; It asks for a setting whose path is a quoted key of 500 escapes, again and again.
;; fuel: 5000000
;; ends: FuelExhausted the call took more than
(module
  (import "wardlet1" "setting" (func $setting (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 8) "a['")
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32) (local $at i32)
    (local.set $at (i32.const 11))
    (loop $escapes
      (i32.store16 (local.get $at) (i32.const 0x275c)) ;; \'
      (br_if $escapes (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 2))) (i32.const 1011))))
    (i32.store16 (local.get $at) (i32.const 0x5d27)) ;; ']
    (loop $again
      (drop (call $setting (i32.const 8) (i32.const 1005) (i32.const 4096) (i32.const 100)))
      (br $again))
    (unreachable)))
