;; It ends itself with a status that is no status.
;; ends: Trap the plugin ended itself with status 4294967295
(module
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (call $proc_exit (i32.const -1))
    (i32.const 0)))
