;; A hook that is a function of the host: the host calls itself, and that does no harm.
;; answers: allow
(module
  (import "wasi_snapshot_preview1" "sched_yield" (func $sched_yield (result i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (export "wardlet_admit" (func $sched_yield)))
