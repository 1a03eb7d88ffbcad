;; It ends itself while it is set up.
;; refused: Trap wardlet_init: the plugin ended itself with status 0
(module
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_init") (result i32)
    (call $proc_exit (i32.const 0))
    (i32.const 0))
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.const 0)))
