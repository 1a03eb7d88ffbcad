package main

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestEverySideIsMeasured(t *testing.T) {
	for _, side := range []string{"kubelet", "wardlet"} {
		t.Run(side, func(t *testing.T) {
			var out bytes.Buffer
			if err := run(&out, []string{"-side", side, "-pods", "50", "-lists", "20"}); err != nil {
				t.Fatal(err)
			}
			var m measurement
			if err := json.Unmarshal(out.Bytes(), &m); err != nil {
				t.Fatal(err)
			}
			if m.Nanoseconds <= 0 || m.Bytes <= 0 || m.Allocations <= 0 || m.Pods != 50 || m.Side != side {
				t.Errorf("got %s", &out)
			}
		})
	}
}

func TestWrongArgumentsAreRefused(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-side", "nobody"}, {"-pods", "0"}, {"-lists", "0"}, {"more"}} {
		if err := run(&bytes.Buffer{}, args); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
}
