;; A function of WASI that would open files.
;; refused: HostDenied "path_open" of "wasi_snapshot_preview1"
(module
  (import "wasi_snapshot_preview1" "path_open" (func (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32) (i32.const 0)))
