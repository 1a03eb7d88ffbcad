package guest

import "testing"

func TestGrownTextsAreOnePiece(t *testing.T) {
	fresh(t)
	calls.stage, calls.used = judging, Capacity-4096
	first := append(Grow(nil, 10), "first"...)
	second := append(Grow(nil, 10), "second"...)
	if longer := Grow(second, 2*smallest); &longer[0] != &second[0] {
		t.Error("the last one moved")
	}
	moved := Grow(first, 2*smallest)
	if &moved[0] == &first[0] || string(moved) != "first" {
		t.Errorf("one with another behind it stayed: %s", moved)
	}
	if large := Grow(moved, 8192); string(large) != "first" || cap(large) < 8192 {
		t.Errorf("one that has no room has %d bytes", cap(large))
	}
	if Capacity-calls.used >= smallest {
		t.Fatalf("%d bytes are left", Capacity-calls.used)
	}
}
