;; Four loops in each other, of a thousand turns each: none of them is long.
;; ends: FuelExhausted the call took more than
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32) (local $i i32) (local $j i32) (local $k i32) (local $l i32)
    (loop $a
      (local.set $j (i32.const 1000))
      (loop $b
        (local.set $k (i32.const 1000))
        (loop $c
          (local.set $l (i32.const 1000))
          (loop $d
            (br_if $d (local.tee $l (i32.sub (local.get $l) (i32.const 1)))))
          (br_if $c (local.tee $k (i32.sub (local.get $k) (i32.const 1)))))
        (br_if $b (local.tee $j (i32.sub (local.get $j) (i32.const 1)))))
      (br_if $a (local.tee $i (i32.sub (local.get $i) (i32.const 1)))))
    (i32.const 0)))
