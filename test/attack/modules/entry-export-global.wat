;; It exports a variable of its own under the name by which its first global is put back.
;; refused: AbiMismatch wardlet:global:0
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (global (export "wardlet:global:0") (mut i64) (i64.const 0x7fffffffffffffff))
  (func (export "wardlet_admit") (result i32)
    (loop $again (br $again))
    (unreachable)))
