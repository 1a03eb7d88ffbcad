;; A loop whose only way back starts within a dozen blocks, some of which give results.
;; ends: FuelExhausted the call took more than
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (loop $again
      (block (block (block (block
        (if (i32.const 1)
          (then (block (block (block
            (drop (block (result i32)
              (if (i32.eqz (i32.const 0)) (then (br $again)))
              (i32.const 7)))))))
          (else (unreachable))))))))
    (i32.const 0)))
