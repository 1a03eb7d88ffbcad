;; Random numbers: those of a merge must not go on in another hook.
;; fuel: 20000000
;; merge write answers: winner-0
;; look answers: allow
(module
  (import "wasi_snapshot_preview1" "random_get" (func $random_get (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (global $a (mut i64) (i64.const 0))
  (func (export "wardlet_merge") (result i32)
    (drop (call $random_get (i32.const 64) (i32.const 8)))
    (global.set $a (i64.load (i32.const 64)))
    (i32.const 0))
  (func (export "wardlet_admit") (result i32)
    (drop (call $random_get (i32.const 64) (i32.const 8)))
    (i32.or (i64.ne (global.get $a) (i64.const 0)) (i64.eqz (i64.load (i32.const 64))))))
