;; It asks for 192 KiB of random numbers, 100 times: what the host makes counts.
;; ends: FuelExhausted the call took more than
(module
  (import "wasi_snapshot_preview1" "random_get" (func $random_get (param i32 i32) (result i32)))
  (memory (export "memory") 4)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32) (local $n i32)
    (loop $again
      (drop (call $random_get (i32.const 0) (i32.const 0x30000)))
      (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 200))))
    (i32.const 0)))
