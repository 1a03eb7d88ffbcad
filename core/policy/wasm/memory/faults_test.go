package memory

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// calm writes to pages and restores the memory until a restore needs no scan.
func calm(t *testing.T, l *Linear, write func()) {
	t.Helper()
	for range 10_000 { // the rest of this process may have page faults
		write()
		restore(t, l)
		if at := l.known.at; at >= 0 && at == faults() {
			return
		}
	}
	t.Fatal("this process always has page faults")
}

// TestAPageThatIsWrittenFirstIsPutBackWhoeverWrites is not parallel: other tests have page
// faults.
func TestAPageThatIsWrittenFirstIsPutBackWhoeverWrites(t *testing.T) {
	const size = 8 * wasmPage
	for name, write := range map[string]func(memory []byte, page int){
		"this thread": func(m []byte, page int) { m[page*pageSize]++ },
		"this thread, after it was read": func(m []byte, page int) {
			if m[page*pageSize] != 0xee {
				m[page*pageSize]++
			}
		},
		"another thread": func(m []byte, page int) {
			done := make(chan struct{})
			go func() {
				defer close(done)
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				m[page*pageSize]++
			}()
			<-done
		},
		"a thread that has ended": func(m []byte, page int) {
			done := make(chan struct{})
			go func() {
				defer close(done)
				runtime.LockOSThread() // the thread exits with its goroutine
				m[page*pageSize]++
			}()
			<-done
		},
	} {
		t.Run(name, func(t *testing.T) {
			l, memory, want := prepared(t, size, By(Scan))
			if l.known == nil {
				t.Fatal("this system does not count page faults")
			}
			for page := 4; page < 60; page++ {
				calm(t, l, func() { memory[0]++; memory[3*pageSize]++ })
				write(memory, page)
				restore(t, l)
				mustEqual(t, memory, want)
			}
		})
	}
}

// TestPagesAreKnownUntilThereAreFaults is not parallel: other tests have page faults.
func TestPagesAreKnownUntilThereAreFaults(t *testing.T) {
	l, memory, want := prepared(t, 2*wasmPage, By(Scan))
	for calm(t, l, func() { memory[0]++ }); !l.known.hold(); calm(t, l, func() { memory[0]++ }) {
	}
	other := func() {
		b, err := anonymous(pageSize)
		if err != nil {
			t.Fatal(err)
		}
		b[0] = 1
		if err := unix.Munmap(b); err != nil {
			t.Fatal(err)
		}
	}
	other()
	if l.known.hold() {
		t.Error("a fault is overlooked")
	}
	for range 5 * (trust + distrust) {
		other()
		memory[0]++
		restore(t, l)
		mustEqual(t, memory, want)
	}
	l.known.failed, l.known.resting = 0, 0
	for range 2*trust + 1 {
		memory[0]++
		restore(t, l)
		other()
	}
	if l.known.resting == 0 {
		t.Error("it is asked for faults although there are always some")
	}
	calm(t, l, func() { memory[0]++ })
	if err := l.Trim(); err != nil {
		t.Fatal(err)
	}
	if l.known.hold() {
		t.Error("pages are known that were dropped")
	}
	mustEqual(t, memory, want)
}

func TestMoreRegionsThanThereIsRoomForAreNotKnown(t *testing.T) {
	t.Parallel()
	l, memory, want := prepared(t, 16*wasmPage, By(Scan))
	for range 10 {
		everyPage(memory, 2)
		restore(t, l)
		mustEqual(t, memory, want)
		if l.known.at >= 0 {
			t.Errorf("%d regions are known, there are %d", len(l.known.regions), 16*wasmPage/pageSize/2)
		}
	}
}
