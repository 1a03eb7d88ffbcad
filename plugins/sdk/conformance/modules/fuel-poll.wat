;; A subscription of poll_oneoff takes 50 units.
(module
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll_oneoff (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (drop (call $poll_oneoff (i32.const 0) (i32.const 0x1000) (i32.const 3) (i32.const 0x2000)))
    (i32.const 0)))
