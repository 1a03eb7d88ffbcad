;; A global that it has not, but that has its fuel once the host has added its own: it fills up for ever.
;; features: no-check
;; refused: AbiMismatch there is no global
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (loop $again
      (global.set 0 (i64.const 0x7fffffffffffffff))
      (br $again))
    (unreachable)))
