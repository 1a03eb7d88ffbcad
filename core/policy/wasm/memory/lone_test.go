package memory

import "testing"

func TestPagesAreMappedOneByOne(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options []Option
		alone   bool
	}{
		// Without a userfaultfd, the kernel maps neighbours of the page too.
		"with a userfaultfd": {[]Option{By(Scan)}, system().watch >= 0},
		"without":            {[]Option{By(Scan), without(func(k *kernel) { k.watch = -1 })}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, memory := newMemory(t, 4*wasmPage, 4*wasmPage, test.options...)
			for at := range memory {
				memory[at] = 1
			}
			capture(t, l)
			if n := present(t, l); n != 0 {
				t.Fatalf("%d pages are mapped before any was read", n)
			}
			if memory[20*pageSize] != 1 {
				t.Fatal("the page that is read holds something else")
			}
			if n := present(t, l); n == 0 || (n == 1) != test.alone {
				t.Errorf("%d pages are mapped after one was read; alone: %v", n, test.alone)
			}
		})
	}
}

// present returns how many pages of a memory are mapped, both private pages and pages of the
// file.
func present(tb testing.TB, l *Linear) int {
	tb.Helper()
	mapped, err := newScanner(l.kernel.pagemap, l.all[:l.size]).mapped()
	if err != nil {
		tb.Fatal(err)
	}
	return (mapped.own + mapped.shared) / pageSize
}
