;; It writes 1024 pieces of one byte each again and again.
;; fuel: 5000000
;; ends: FuelExhausted the call took more than
(module
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32) (local $at i32)
    (loop $pieces
      (i32.store offset=4 (local.get $at) (i32.const 1))
      (br_if $pieces (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 8))) (i32.const 8192))))
    (loop $again
      (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1024) (i32.const 0xfffc)))
      (br $again))
    (unreachable)))
