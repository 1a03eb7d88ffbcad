package memory

import (
	"bytes"
	"testing"
)

func TestAPopulatedMemoryHasItsPagesAndGetsThoseItGrowsBy(t *testing.T) {
	t.Parallel()
	l, memory := newMemory(t, 8*wasmPage, 2*wasmPage)
	memory[5] = 7
	if !l.Unknown() {
		t.Error("pages that nobody gave are known")
	}
	l.Populate()
	if l.Unknown() || private(t, l) != 2*wasmPage/pageSize || memory[5] != 7 {
		t.Errorf("unknown %t, %d pages, the byte is %d", l.Unknown(), private(t, l), memory[5])
	}
	l.Reallocate(4 * wasmPage)
	if l.Unknown() || private(t, l) != 4*wasmPage/pageSize {
		t.Errorf("after it grew: unknown %t, %d pages", l.Unknown(), private(t, l))
	}
	if _, err := l.Capture(); err != nil {
		t.Fatal(err)
	}
	if l.Unknown() || private(t, l) != 0 {
		t.Errorf("with its snapshot: unknown %t, %d pages of its own", l.Unknown(), private(t, l))
	}
	l.Reallocate(5 * wasmPage)
	if !l.Unknown() || private(t, l) != 0 {
		t.Errorf("after it grew beyond: unknown %t, %d pages of its own", l.Unknown(), private(t, l))
	}
}

// growing wraps a memory as wazero does for an instance.
type growing struct {
	*Linear
	size uint64
}

func (g *growing) Size() uint32 { return uint32(g.size) }

func (g *growing) Grow(pages uint32) (uint32, bool) {
	before := g.size
	bytes := g.Reallocate(g.size + uint64(pages)*wasmPage)
	g.size = uint64(len(bytes))
	return uint32(before / wasmPage), bytes != nil
}

func TestWhatAMemoryGrewByIsThereTheNextTime(t *testing.T) {
	t.Parallel()
	l, _ := newMemory(t, 200*wasmPage, 2*wasmPage)
	capture(t, l)
	of := &growing{l, 2 * wasmPage}
	for _, step := range []struct {
		does          string
		pages         uint32
		unknown, trim bool
	}{
		{does: "it grows for the first time", pages: 3, unknown: true},
		{does: "it grows as far", pages: 3},
		{does: "it grows less", pages: 1},
		{does: "it grows further", pages: 4, unknown: true},
		{does: "it grows as far again, and is given back", pages: 4, trim: true},
		{does: "it grows after that", pages: 1, unknown: true},
		{does: "it grows by more than is kept", pages: 100, unknown: true},
		{does: "it grows a little after that", pages: 1, unknown: true},
		{does: "it grows as little", pages: 1},
	} {
		of.Grow(step.pages)
		if l.Unknown() != step.unknown {
			t.Errorf("%s: unknown %t", step.does, l.Unknown())
		}
		everyPage(l.all[:l.size], 1)
		if !l.Shrink(of) {
			t.Fatalf("%s: it does not shrink", step.does)
		}
		restore(t, l)
		if step.trim {
			if err := l.Trim(); err != nil {
				t.Fatal(err)
			}
		}
		if n := bytes.Count(l.all, []byte{0}); n != len(l.all) {
			t.Fatalf("%s: %d bytes are not put back", step.does, len(l.all)-n)
		}
	}
}

func TestALargeMemoryIsNotPopulated(t *testing.T) {
	t.Parallel()
	l, _ := newMemory(t, populateMost+wasmPage, populateMost)
	l.Populate()
	if l.Unknown() || private(t, l) != populateMost/pageSize {
		t.Errorf("unknown %t, %d pages", l.Unknown(), private(t, l))
	}
	l.Reallocate(populateMost + wasmPage)
	if !l.Unknown() || private(t, l) != populateMost/pageSize {
		t.Errorf("after it grew: unknown %t, %d pages", l.Unknown(), private(t, l))
	}
}
