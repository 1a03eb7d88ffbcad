;; 64 KiB of characters that become six times as long when they are escaped.
;; answers: deny \u0001
(module
  (import "wardlet1" "reason" (func $reason (param i32 i32 i32 i32)))
  (import "wardlet1" "explain" (func $explain (param i32 i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (memory.fill (i32.const 0) (i32.const 1) (i32.const 0x10000))
    (call $reason (i32.const 0) (i32.const 64) (i32.const 0) (i32.const 4096))
    (call $explain (i32.const 0) (i32.const 60000))
    (i32.const 1)))
