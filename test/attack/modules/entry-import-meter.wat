;; The function that its fuel comes from.
;; refused: HostDenied "yield" of "wardlet:meter"
(module
  (import "wardlet:meter" "yield" (func))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32) (i32.const 0)))
