;; It writes the same 256 KiB a thousand times in one call of fd_write, and that 10 times: 2.5 GB without a line's end.
;; ends: FuelExhausted the call took more than
(module
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 4)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32) (local $n i32) (local $at i32)
    (loop $pieces
      (i32.store offset=4 (local.get $at) (i32.const 0x40000)) ;; 256 KiB from 0 on
      (br_if $pieces (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 8))) (i32.const 8000))))
    (loop $again
      (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1000) (i32.const 0x3fffc)))
      (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 10))))
    (i32.const 0)))
