;; Data at an address that the host would have to give.
;; refused: AbiMismatch imports the global
(module
  (import "env" "at" (global $at i32))
  (memory (export "memory") 1)
  (data (global.get $at) "abc")
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.const 0)))
