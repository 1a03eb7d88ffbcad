;; It asks for a setting whose path has 341 steps, of which each takes room, again and again.
;; fuel: 5000000
;; ends: FuelExhausted the call took more than
(module
  (import "wardlet1" "setting" (func $setting (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32) (local $at i32)
    (i32.store8 (i32.const 8) (i32.const 0x61)) ;; a
    (local.set $at (i32.const 9))
    (loop $steps
      (i32.store (local.get $at) (i32.const 0x005d305b)) ;; [0]
      (br_if $steps (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 3))) (i32.const 1029))))
    (loop $again
      (drop (call $setting (i32.const 8) (i32.const 1021) (i32.const 4096) (i32.const 100)))
      (br $again))
    (unreachable)))
