;; It writes 1024 pieces of no bytes again and again.
;; fuel: 5000000
;; ends: FuelExhausted the call took more than
(module
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (loop $again
      (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1024) (i32.const 0xfffc)))
      (br $again))
    (unreachable)))
