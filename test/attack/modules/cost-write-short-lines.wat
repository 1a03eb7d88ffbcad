;; It writes half a million lines of one letter in one call of fd_write, and that 300 times.
;; fuel: 5000000
;; ends: FuelExhausted the call took more than
(module
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 4)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32) (local $n i32) (local $at i32)
    (loop $letters
      (i32.store (local.get $at) (i32.const 0x0a610a61))
      (br_if $letters (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 4))) (i32.const 0x8000))))
    (local.set $at (i32.const 0x30000))
    (loop $pieces
      (i32.store (local.get $at) (i32.const 0))
      (i32.store offset=4 (local.get $at) (i32.const 0x8000)) ;; 32 KiB from 0 on
      (br_if $pieces (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 8))) (i32.const 0x30100))))
    (loop $again
      (drop (call $fd_write (i32.const 2) (i32.const 0x30000) (i32.const 32) (i32.const 0x3fffc)))
      (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 300))))
    (i32.const 0)))
