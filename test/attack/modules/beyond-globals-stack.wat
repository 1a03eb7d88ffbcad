;; A global that it has not, but that has its stack's budget once the host has added its own.
;; features: no-check
;; refused: AbiMismatch there is no global
(module
  (memory (export "memory") 1)
  (func $down
    (global.set 1 (i64.const 0x7fffffffffffffff))
    (call $down))
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (call $down)
    (i32.const 0)))
