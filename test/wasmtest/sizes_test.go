package wasmtest

import (
	"encoding/binary"
	"testing"
)

func TestPadded(t *testing.T) {
	t.Parallel()
	for _, length := range []int{64 << 10, 5<<20 + 1} {
		if got := Padded(nil, length); len(got) != length {
			t.Errorf("%d bytes, want %d", len(got), length)
		} else if n, size := binary.Uvarint(got[1:]); int(n) != length-1-size {
			t.Errorf("a section of %d bytes in %d", n, length)
		}
	}
}
