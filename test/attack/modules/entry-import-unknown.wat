;; A function that is not offered.
;; refused: HostDenied "open_socket" of "env"
(module
  (import "env" "open_socket" (func (param i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32) (i32.const 0)))
