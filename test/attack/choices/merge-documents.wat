;; Documents that there are not in this hook, before the candidates and behind them.
;; merge answers: winner-0
(module
  (import "wardlet1" "json" (func $json (param i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_merge") (result i32)
    (i32.or (i32.or (i32.or (i32.ne (call $json (i32.const 1) (i32.const 0) (i32.const -1)) (i32.const -1))
      (i32.ne (call $json (i32.const 3) (i32.const 0) (i32.const -1)) (i32.const -1)))
      (i32.or (i32.ne (call $json (i32.const 4) (i32.const 0) (i32.const -1)) (i32.const -1))
      (i32.ne (call $json (i32.const 15) (i32.const 0) (i32.const -1)) (i32.const -1))))
      (i32.or (i32.or (i32.ne (call $json (i32.const 19) (i32.const 0) (i32.const -1)) (i32.const -1))
      (i32.ne (call $json (i32.const 0x7fffffff) (i32.const 0) (i32.const -1)) (i32.const -1)))
      (i32.or (i32.ne (call $json (i32.const -1) (i32.const 0) (i32.const -1)) (i32.const -1))
      (i32.ne (call $json (i32.const 0x80000010) (i32.const 0) (i32.const -1)) (i32.const -1)))))))
