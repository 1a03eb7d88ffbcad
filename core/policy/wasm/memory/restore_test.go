package memory

import (
	"bytes"
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// prepared returns a captured memory, and its content.
func prepared(tb testing.TB, size int, options ...Option) (l *Linear, memory, want []byte) {
	tb.Helper()
	l, memory = newMemory(tb, 2*size, size, options...)
	want = content(seeded(uint64(size)), size)
	copy(memory, want)
	capture(tb, l)
	return l, memory, want
}

func mustEqual(tb testing.TB, got, want []byte) {
	tb.Helper()
	if bytes.Equal(got, want) {
		return
	}
	for at := range got {
		if got[at] != want[at] {
			tb.Fatalf("byte %#x is %#x, want %#x", at, got[at], want[at])
		}
	}
}

func TestRestorePutsBackWhatWasWritten(t *testing.T) {
	t.Parallel()
	const size = 8 * wasmPage
	for name, write := range map[string]func(memory []byte){
		"nothing":              func([]byte) {},
		"the first byte":       func(m []byte) { m[0] ^= 1 },
		"the last byte":        func(m []byte) { m[size-1] ^= 1 },
		"zeros":                func(m []byte) { clear(m[:pageSize]) },
		"into zeros":           func(m []byte) { m[pageSize] = 1 },
		"across two pages":     func(m []byte) { m[pageSize-1]++; m[pageSize]++ },
		"every page":           func(m []byte) { everyPage(m, 1) },
		"every second page":    func(m []byte) { everyPage(m, 2) },
		"and what is read":     func(m []byte) { _ = bytes.Count(m, []byte{1}); m[5]++ },
		"first and last pages": func(m []byte) { m[1]++; m[size-pageSize]++ },
	} {
		for _, method := range methods {
			t.Run(name+"/"+method.String(), func(t *testing.T) {
				t.Parallel()
				l, memory, want := prepared(t, size, By(method))
				for range 3 {
					write(memory)
					restore(t, l)
					mustEqual(t, memory, want)
				}
				write(memory)
				if err := l.Trim(); err != nil {
					t.Fatal(err)
				}
				mustEqual(t, memory, want)
			})
		}
	}
}

// everyPage writes to each page whose number is divisible by step.
func everyPage(memory []byte, step int) {
	for at := 0; at < len(memory); at += step * pageSize {
		memory[at]++
	}
}

func TestRestoreTellsWhatItTook(t *testing.T) {
	t.Parallel()
	const size = 4 * wasmPage
	for _, test := range []struct {
		method Method
		want   Restored
		left   int // private pages after the restore
	}{
		{Scan, Restored{Copied: 3 * pageSize, Fresh: 3 * pageSize}, 3},
		{Drop, Restored{Dropped: size, Fresh: 3 * pageSize}, 0},
		{Copy, Restored{Copied: size, Fresh: size}, size / pageSize},
	} {
		t.Run(test.method.String(), func(t *testing.T) {
			t.Parallel()
			l, memory, _ := prepared(t, size, By(test.method))
			memory[0]++
			memory[7*pageSize]++
			memory[8*pageSize]++
			if n := private(t, l); n != 3 {
				t.Errorf("%d pages are its own after writing to 3", n)
			}
			got := restore(t, l)
			if test.method == Drop && got.Fresh > test.want.Fresh {
				got.Fresh = test.want.Fresh // page faults of other tests are included
			}
			if got != test.want {
				t.Errorf("restored %+v, want %+v", got, test.want)
			}
			if n := private(t, l); n != test.left {
				t.Errorf("%d pages are its own after that, want %d", n, test.left)
			}
		})
	}
}

func TestAScanFindsMorePagesThanOneCallTells(t *testing.T) {
	t.Parallel()
	const size = 32 * wasmPage
	l, memory, want := prepared(t, size, By(Scan))
	everyPage(memory, 2)
	pages := size / pageSize / 2
	if pages < 3*regionsAtOnce {
		t.Fatalf("%d regions fit into three calls", pages)
	}
	if n := private(t, l); n != pages {
		t.Errorf("%d pages are its own, want %d", n, pages)
	}
	if got := restore(t, l); got != (Restored{Copied: pages * pageSize, Fresh: pages * pageSize}) {
		t.Errorf("restored %+v, want %d pages copied", got, pages)
	}
	mustEqual(t, memory, want)
}

func TestTooManyPagesAreDropped(t *testing.T) {
	t.Parallel()
	const size = 32 * wasmPage
	for name, test := range map[string]struct {
		keep, step int
		want       Restored
	}{
		"as many as may stay":                 {16 * pageSize, size / 16 / pageSize, Restored{Copied: 16 * pageSize, Fresh: 16 * pageSize}},
		"one more":                            {15 * pageSize, size / 16 / pageSize, Restored{Dropped: size, Fresh: 16 * pageSize}},
		"more than one call tells":            {100 * pageSize, 2, Restored{Copied: regionsAtOnce * pageSize, Dropped: size, Fresh: size / 2}},
		"as many in one piece":                {size, 1, Restored{Copied: size, Fresh: size}},
		"in one piece, too many":              {size - pageSize, 1, Restored{Dropped: size, Fresh: size}},
		"exactly what one call tells":         {regionsAtOnce * pageSize, size / regionsAtOnce / pageSize, Restored{Copied: regionsAtOnce * pageSize, Fresh: regionsAtOnce * pageSize}},
		"one more than what fits in one call": {(regionsAtOnce - 1) * pageSize, size / regionsAtOnce / pageSize, Restored{Dropped: size, Fresh: regionsAtOnce * pageSize}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, memory, want := prepared(t, size, By(Scan))
			l.patience.keep = test.keep
			everyPage(memory, test.step)
			if got := restore(t, l); got != test.want {
				t.Errorf("restored %+v, want %+v", got, test.want)
			}
			if n := private(t, l); n*pageSize > test.keep {
				t.Errorf("%d pages stay its own, at most %d may", n, test.keep/pageSize)
			}
			mustEqual(t, memory, want)
		})
	}
}

func TestPagesThatAreCopiedForNothingAreDropped(t *testing.T) {
	t.Parallel()
	l, memory, want := prepared(t, 4*wasmPage, By(Scan))
	l.patience.waste = 100 * pageSize
	call := func(pages int) Restored {
		mustEqual(t, memory, want) // maps all pages
		everyPage(memory[:pages*pageSize], 1)
		return restore(t, l)
	}
	for n := range 200 {
		wanted := Restored{Copied: 2 * pageSize}
		if n == 0 {
			wanted.Fresh = len(memory)
		}
		if r := call(2); r != wanted {
			t.Fatalf("call %d: restored %+v for two pages that every call writes", n, r)
		}
	}
	call(22) // 20 pages are copied for nothing
	for n := range 4 {
		if r := call(2); r != (Restored{Copied: 22 * pageSize}) {
			t.Fatalf("call %d: restored %+v, the waste is not above the limit yet", n, r)
		}
	}
	if r := call(2); r.Dropped == 0 {
		t.Fatalf("restored %+v, 120 pages were copied for nothing", r)
	}
	if r := call(2); r != (Restored{Copied: 2 * pageSize, Fresh: len(memory)}) {
		t.Fatalf("restored %+v after the drop", r)
	}
}

func TestAMemoryIsRefreshedNowAndThen(t *testing.T) {
	t.Parallel()
	for _, method := range methods {
		t.Run(method.String(), func(t *testing.T) {
			t.Parallel()
			l, memory, want := prepared(t, 4*wasmPage, By(method))
			l.patience.calls = 10
			everyPage(memory, 1)
			committed := l.snapshot.Committed()
			for n := 1; n <= 20; n++ {
				r := restore(t, l)
				if dropped := r.Dropped > 0; dropped != (method == Drop || method == Scan && n%10 == 0) {
					t.Fatalf("call %d: restored %+v", n, r)
				}
			}
			mustEqual(t, memory, want)
			// Every second page is all zeros. These pages were not in the file before.
			if now := l.snapshot.Committed(); now != 2*committed {
				t.Errorf("%d bytes are counted as committed, want twice %d", now, committed)
			}
		})
	}
}

func TestTrimGivesPagesBack(t *testing.T) {
	t.Parallel()
	l, memory, want := prepared(t, wasmPage, By(Scan))
	everyPage(memory, 1)
	restore(t, l)
	everyPage(memory, 3)
	if err := l.Trim(); err != nil {
		t.Fatal(err)
	}
	if n := private(t, l); n != 0 {
		t.Errorf("%d pages are its own after Trim", n)
	}
	mustEqual(t, memory, want)
}

func TestAGrownMemoryCannotBePutBack(t *testing.T) {
	t.Parallel()
	for _, method := range methods {
		t.Run(method.String(), func(t *testing.T) {
			t.Parallel()
			l, _, _ := prepared(t, wasmPage, By(method))
			if l.Grown() {
				t.Error("grown before anything happened")
			}
			l.Reallocate(2 * wasmPage)
			if !l.Grown() {
				t.Error("not grown")
			}
			if _, err := l.Restore(); !errors.Is(err, errGrown) {
				t.Errorf("restored: %v", err)
			}
			if err := l.Trim(); !errors.Is(err, errGrown) {
				t.Errorf("trimmed: %v", err)
			}
		})
	}
}

func TestAMemoryWithoutSnapshotCannotBePutBack(t *testing.T) {
	t.Parallel()
	l, _ := newMemory(t, wasmPage, wasmPage)
	if _, err := l.Restore(); !errors.Is(err, errNoSnapshot) {
		t.Errorf("restored: %v", err)
	}
	if err := l.Trim(); !errors.Is(err, errNoSnapshot) {
		t.Errorf("trimmed: %v", err)
	}
}

// TestPagesThatTheSystemTookAreRestored covers pages that the system has reclaimed, which are
// not present. If they were written, they must still be found: in swap or, without swap, in
// memory.
func TestPagesThatTheSystemTookAreRestored(t *testing.T) {
	t.Parallel()
	for _, method := range methods {
		t.Run(method.String(), func(t *testing.T) {
			t.Parallel()
			l, memory, want := prepared(t, 8*wasmPage, By(method))
			for range 5 {
				everyPage(memory, 3)
				_ = bytes.Count(memory, []byte{1}) // maps the others
				if err := unix.Madvise(memory, unix.MADV_PAGEOUT); err != nil {
					t.Fatal(err)
				}
				restore(t, l)
				mustEqual(t, memory, want)
			}
		})
	}
}

func TestRestoreDoesNotAllocate(t *testing.T) { // counts what the process allocates
	for _, method := range methods {
		t.Run(method.String(), func(t *testing.T) {
			l, memory, _ := prepared(t, 3*wasmPage, By(method))
			l.patience.calls = 10
			n := testing.AllocsPerRun(100, func() {
				everyPage(memory, 5)
				if _, err := l.Restore(); err != nil {
					t.Fatal(err)
				}
			})
			if n != 0 {
				t.Errorf("%v allocations", n)
			}
		})
	}
}

func TestAllThatWasWrittenIsFreshAlsoBehindWhatMayStay(t *testing.T) {
	t.Parallel()
	const size = 64 * wasmPage
	l, memory, _ := prepared(t, size, By(Scan))
	l.patience.keep = 16 * wasmPage
	everyPage(memory[:16*wasmPage], 1)
	if got := restore(t, l); got.Fresh != 16*wasmPage || got.Dropped != 0 {
		t.Fatalf("restored %+v", got)
	}
	everyPage(memory, 1)
	if n := l.Fresh(); n != 48*wasmPage {
		t.Errorf("%d bytes were written before it is put back", n)
	}
	if got := restore(t, l); got.Fresh != 48*wasmPage || got.Dropped != size {
		t.Errorf("restored %+v", got)
	}
	if n := l.Fresh(); n != 0 {
		t.Errorf("%d bytes were written after it was put back", n)
	}
}

func TestWhatIsTouchedFirstIsFresh(t *testing.T) {
	t.Parallel()
	const size = 64 * wasmPage
	l, memory, _ := prepared(t, size, By(Scan))
	alone := l.kernel.watch >= 0 // otherwise the kernel maps neighbours of the page too
	sum := byte(0)
	read := func(from, to, step int) {
		for at := from * pageSize; at < to*pageSize; at += step * pageSize {
			sum += memory[at]
		}
	}
	for _, test := range []struct {
		call  string
		touch func()
		want  int // in pages
	}{
		{"reads pages", func() { read(0, 100, 1) }, 100},
		{"reads the same", func() { read(0, 100, 1) }, 0},
		{"writes to what was read", func() { everyPage(memory[:50*pageSize], 1) }, 50},
		{"reads every second page", func() { read(200, 800, 2) }, 300},
		{"reads and writes", func() { read(100, 120, 1); everyPage(memory[120*pageSize:140*pageSize], 1) }, 40},
		{"writes everywhere, too much to stay", func() { l.patience.keep = wasmPage; everyPage(memory, 1) }, size/pageSize - 50 - 20},
		{"reads after all was dropped", func() { read(0, 100, 1) }, 100},
	} {
		test.touch()
		before := l.Fresh() / pageSize
		got := restore(t, l).Fresh / pageSize
		if got < test.want || alone && (got != test.want || before != test.want) {
			t.Errorf("a call that %s: %d pages are fresh before it is put back, %d says that, want %d", test.call, before, got, test.want)
		}
	}
}
