package memory

import "testing"

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
