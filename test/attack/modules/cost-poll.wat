;; It waits for 1 024 clocks at once, 5 000 times: what the host looks at counts.
;; ends: FuelExhausted the call took more than
(module
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll_oneoff (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 4)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32) (local $n i32)
    (loop $again
      (drop (call $poll_oneoff (i32.const 0) (i32.const 0xd000) (i32.const 1024) (i32.const 0x3fffc)))
      (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 5000))))
    (i32.const 0)))
