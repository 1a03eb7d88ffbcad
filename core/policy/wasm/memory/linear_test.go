package memory

import (
	"errors"
	"strings"
	"testing"
)

func TestAMemoryGrowsToItsLimit(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		limit, size uint64
		want        bool
	}{
		"nothing":             {limit: 3 * wasmPage, size: 0, want: true},
		"below the limit":     {limit: 3 * wasmPage, size: wasmPage, want: true},
		"the limit":           {limit: 3 * wasmPage, size: 3 * wasmPage, want: true},
		"above the limit":     {limit: 3 * wasmPage, size: 4 * wasmPage},
		"nothing of nothing":  {want: true},
		"a page of nothing":   {size: wasmPage},
		"half a page":         {limit: 3 * wasmPage, size: wasmPage / 2},
		"below an odd limit":  {limit: wasmPage + 1, size: wasmPage, want: true},
		"above an odd limit":  {limit: wasmPage + 1, size: 2 * wasmPage},
		"more than fits":      {limit: 1 << 40, size: largest + wasmPage},
		"all that can be had": {limit: 1 << 40, size: largest, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := NewLinear(test.limit)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Free()
			memory := l.Reallocate(test.size)
			if got := memory != nil; got != test.want {
				t.Fatalf("memory: %v, want %v", got, test.want)
			}
			if memory == nil {
				return
			}
			if len(memory) != int(test.size) || cap(memory) != int(test.size) || l.Size() != int(test.size) {
				t.Fatalf("%d bytes, room for %d, size %d, want %d", len(memory), cap(memory), l.Size(), test.size)
			}
			if len(memory) > 0 {
				memory[0]++
				memory[len(memory)-1]++
			}
		})
	}
}

func TestGrowingKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	l, memory := newMemory(t, 2*wasmPage, wasmPage)
	memory[7] = 7
	grown := l.Reallocate(2 * wasmPage)
	if &grown[0] != &memory[0] || grown[7] != 7 || grown[wasmPage] != 0 {
		t.Fatal("the memory moved, or holds something else")
	}
}

func TestAMemoryServesOneInstanceWithinItsLimit(t *testing.T) {
	t.Parallel()
	l, _ := newMemory(t, wasmPage, 0)
	refused := func(least uint64) (why error) {
		defer func() { why, _ = recover().(error) }()
		l.Allocate(least, least)
		return nil
	}
	if err := refused(2 * wasmPage); err == nil || !strings.Contains(err.Error(), "begins with 131072 bytes of memory, its policy may have 65536") {
		t.Fatalf("more than the limit: %v", err)
	}
	if err := refused(wasmPage); err != nil {
		t.Fatal(err)
	}
	if err := refused(wasmPage); err == nil || !strings.Contains(err.Error(), "serves one instance") {
		t.Fatalf("a second instance: %v", err)
	}
}

func TestAMemoryIsFreedOnce(t *testing.T) {
	t.Parallel()
	l, _ := newMemory(t, wasmPage, wasmPage)
	s := capture(t, l)
	l.Free()
	l.Free()
	if n := s.users.Load(); n != 1 {
		t.Errorf("%d users of the snapshot are left, want 1", n)
	}
	if l.Size() != 0 || l.Reallocate(wasmPage) != nil {
		t.Error("a freed memory can be had")
	}
	if _, err := l.Capture(); !errors.Is(err, errFreed) {
		t.Errorf("captured: %v", err)
	}
	if err := l.Adopt(s); !errors.Is(err, errFreed) {
		t.Errorf("adopted: %v", err)
	}
	if _, err := l.Restore(); !errors.Is(err, errNoSnapshot) {
		t.Errorf("restored: %v", err)
	}
}
