;; It exports a constant under the name by which another of its globals is put back, which would then keep what is left in it.
;; refused: AbiMismatch wardlet:global:1
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (global (export "wardlet:global:1") i64 (i64.const 0))
  (global $kept (mut i64) (i64.const 0))
  (func (export "wardlet_admit") (result i32)
    (global.set $kept (i64.const 1))
    (i32.const 0)))
