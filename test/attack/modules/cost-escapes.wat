;; Reasons of 1 KiB of characters that must be escaped, for a policy that lets it put out 8 MB: to escape costs the host more than to copy.
;; output: 8000000
;; ends: FuelExhausted the call took more than
(module
  (import "wardlet1" "reason" (func $reason (param i32 i32 i32 i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (loop $again
      (call $reason (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 1024))
      (br $again))
    (unreachable)))
