package main

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestEverySideIsMeasured(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
	}{
		{"changes on a kubelet", []string{"-side", "kubelet", "-pods", "7", "-changes", "20"}},
		{"changes on wardlet", []string{"-side", "wardlet", "-pods", "7", "-changes", "20"}},
		{"changes on wardlet with a disk", []string{"-side", "wardlet-durable", "-pods", "3", "-changes", "2"}},
		{"a first snapshot on a kubelet", []string{"-side", "kubelet", "-load", "snapshot", "-pods", "500"}},
		{"a first snapshot on wardlet", []string{"-side", "wardlet", "-load", "snapshot", "-pods", "500"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			if err := run(&out, c.args); err != nil {
				t.Fatal(err)
			}
			var m measurement
			if err := json.Unmarshal(out.Bytes(), &m); err != nil {
				t.Fatal(err)
			}
			if m.Nanoseconds <= 0 || m.Bytes == 0 || m.Allocations == 0 || m.Pods == 0 || m.Side == "" {
				t.Errorf("got %s", &out)
			}
			if m.Load == "snapshot" && m.Retained == 0 {
				t.Errorf("a first snapshot keeps nothing: %s", &out)
			}
		})
	}
}

func TestWrongArgumentsAreRefused(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"-side", "nobody"}, {"-load", "nothing", "-pods", "1"}, {"-pods", "0"}, {"-changes", "0"}, {"more"},
	} {
		if err := run(&bytes.Buffer{}, args); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
}
