;; It looks for settings by paths of 1 KiB, that differ only at their end, for ever.
;; ends: FuelExhausted the call took more than
(module
  (import "wardlet1" "setting" (func $setting (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (memory.fill (i32.const 10) (i32.const 0x61) (i32.const 1000))
    (i32.store16 (i32.const 8) (i32.const 0x275b)) ;; ['
    (i32.store16 (i32.const 1010) (i32.const 0x5d27)) ;; ']
    (loop $again
      (drop (call $setting (i32.const 8) (i32.const 1004) (i32.const 0) (i32.const 0)))
      (br $again))
    (unreachable)))
