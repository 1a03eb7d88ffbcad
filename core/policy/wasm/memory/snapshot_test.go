package memory

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestAMemoryIsCapturedOrAdoptsOnce(t *testing.T) {
	t.Parallel()
	first, _ := newMemory(t, 2*wasmPage, wasmPage)
	s := capture(t, first)
	if _, err := first.Capture(); !errors.Is(err, errCaptured) {
		t.Errorf("captured twice: %v", err)
	}
	if err := first.Adopt(s); !errors.Is(err, errCaptured) {
		t.Errorf("adopted what it was captured for: %v", err)
	}
	second, _ := newMemory(t, 2*wasmPage, 2*wasmPage)
	if err := second.Adopt(s); err == nil || !strings.Contains(err.Error(), "the snapshot has 65536 bytes, the linear memory 131072") {
		t.Errorf("adopted another size: %v", err)
	}
	if n := s.users.Load(); n != 2 {
		t.Errorf("%d users, want 2", n)
	}
}

func TestAnAdoptingMemoryHoldsTheSnapshot(t *testing.T) {
	t.Parallel()
	for _, method := range methods {
		t.Run(method.String(), func(t *testing.T) {
			t.Parallel()
			first, memory := newMemory(t, 4*wasmPage, 4*wasmPage, By(method))
			want := content(seeded(1), len(memory))
			copy(memory, want)
			s := capture(t, first)
			memory[0] ^= 1 // the first memory gets a private copy of the page
			second, other := newMemory(t, 8*wasmPage, 4*wasmPage, By(method))
			for at := range other {
				other[at] = 0xee
			}
			if err := second.Adopt(s); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(other, want) {
				t.Fatal("it holds something else")
			}
			first.Free()
			s.Release()
			clear(other)
			restore(t, second)
			if !bytes.Equal(other, want) {
				t.Fatal("put back to something else")
			}
		})
	}
}

func TestASnapshotLivesUntilItsLastUserLetsGo(t *testing.T) { // counts what the whole process has
	system()
	files, used := openFiles(t), Usage()
	check := func(when string, fileCount, mappingCount int) {
		t.Helper()
		if got := openFiles(t) - files; got != fileCount {
			t.Errorf("%s: %d files are open, want %d", when, got, fileCount)
		}
		if got := mappings(t); got != mappingCount {
			t.Errorf("%s: %d mappings, want %d", when, got, mappingCount)
		}
	}
	first, memory := newMemory(t, wasmPage, wasmPage)
	memory[0] = 1
	s := capture(t, first)
	check("captured", 1, 2)
	second, _ := newMemory(t, wasmPage, wasmPage)
	if err := second.Adopt(s); err != nil {
		t.Fatal(err)
	}
	check("adopted", 1, 3)
	s.Release()
	s.Release()
	first.Free()
	check("released, with a user", 1, 2)
	second.Free()
	check("without users", 0, 0)
	third, _ := newMemory(t, wasmPage, wasmPage)
	if err := third.Adopt(s); !errors.Is(err, errReleased) {
		t.Errorf("adopted what is gone: %v", err)
	}
	third.Free()
	if now := Usage(); now != used {
		t.Errorf("in use: %+v, before it was %+v", now, used)
	}
}

func TestNothingIsLeftOfManyMemories(t *testing.T) { // counts what the whole process has
	system()
	files, used, before := openFiles(t), Usage(), addressSpace(t)
	for range 30 {
		l, err := NewLinear(64 << 20)
		if err != nil {
			t.Fatal(err)
		}
		l.Reallocate(8 << 20)[5] = 5
		s, err := l.Capture()
		if err != nil {
			t.Fatal(err)
		}
		s.Release()
		restore(t, l)
		l.Free()
	}
	if got := openFiles(t); got != files {
		t.Errorf("%d files are open, before it were %d", got, files)
	}
	if got := mappings(t); got != 0 {
		t.Errorf("%d mappings of snapshots are left", got)
	}
	if now := Usage(); now != used {
		t.Errorf("in use: %+v, before it was %+v", now, used)
	}
	// Go's own heap may have grown too, but 30 leaked memories of 64 MiB would take more than
	// this limit.
	if after := addressSpace(t); after > before+(1<<30) {
		t.Errorf("%d bytes of address space, before it were %d", after, before)
	}
}

// addressSpace returns the number of bytes that the process has mapped.
func addressSpace(tb testing.TB) uint64 {
	tb.Helper()
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		tb.Fatal(err)
	}
	sum := uint64(0)
	for line := range strings.Lines(string(text)) {
		var start, end uint64
		if _, err := fmt.Sscanf(line, "%x-%x", &start, &end); err != nil {
			tb.Fatal(err)
		}
		sum += end - start
	}
	return sum
}

func TestASnapshotCannotBeChanged(t *testing.T) {
	t.Parallel()
	l, memory := newMemory(t, wasmPage, wasmPage)
	memory[0] = 1
	s := capture(t, l)
	if _, err := unix.Pwrite(s.file, []byte{2}, 0); !errors.Is(err, unix.EPERM) {
		t.Errorf("written: %v", err)
	}
	if err := unix.Ftruncate(s.file, 0); !errors.Is(err, unix.EPERM) {
		t.Errorf("shrunk: %v", err)
	}
	if err := unix.Ftruncate(s.file, 2*wasmPage); !errors.Is(err, unix.EPERM) {
		t.Errorf("grown: %v", err)
	}
	if _, err := unix.Mmap(s.file, 0, wasmPage, writable, unix.MAP_SHARED); !errors.Is(err, unix.EPERM) {
		t.Errorf("shared to be written: %v", err)
	}
}

func TestZerosTakeNoMemoryUntilTheyAreTouched(t *testing.T) { // counts what the whole process has
	used := Usage()
	l, memory := newMemory(t, 16*wasmPage, 16*wasmPage)
	memory[3*pageSize], memory[len(memory)-1] = 1, 1
	memory[5*pageSize] = 1
	memory[5*pageSize] = 0
	s := capture(t, l)
	if got, want := s.Committed(), int64(2*pageSize); got != want {
		t.Errorf("%d bytes committed, want %d", got, want)
	}
	if now := Usage(); now.Committed-used.Committed != s.Committed() || now.Mapped-used.Mapped != 2*16*wasmPage {
		t.Errorf("in use: %+v, before it was %+v", now, used)
	}
	memory[5*pageSize] = 1
	second, _ := newMemory(t, 16*wasmPage, 16*wasmPage)
	if err := second.Adopt(s); err != nil {
		t.Fatal(err)
	}
	if got, want := s.Committed(), int64(3*pageSize); got != want {
		t.Errorf("%d bytes committed after a page was touched, want %d", got, want)
	}
	l.Free()
	second.Free()
	s.Release()
	if now := Usage(); now != used {
		t.Errorf("in use: %+v, before it was %+v", now, used)
	}
}

func TestAnEmptyMemoryHasASnapshotToo(t *testing.T) {
	t.Parallel()
	for _, method := range methods {
		t.Run(method.String(), func(t *testing.T) {
			t.Parallel()
			l, _ := newMemory(t, wasmPage, 0, By(method))
			s := capture(t, l)
			if s.Size() != 0 || s.Committed() != 0 || s.file >= 0 {
				t.Errorf("snapshot of %d bytes, %d committed, file %d", s.Size(), s.Committed(), s.file)
			}
			if r := restore(t, l); r != (Restored{}) {
				t.Errorf("restored %+v", r)
			}
			if err := l.Trim(); err != nil {
				t.Error(err)
			}
			if n := private(t, l); n != 0 {
				t.Errorf("%d pages", n)
			}
			l.Reallocate(wasmPage)
			if _, err := l.Restore(); !errors.Is(err, errGrown) {
				t.Errorf("restored a grown memory: %v", err)
			}
		})
	}
}
