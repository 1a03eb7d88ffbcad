package file

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/unix"

	"github.com/wardlet/wardlet/core/internal/fswatch"
)

// fencePatience limits the wait for a fence's event. Events come within microseconds unless the
// machine is stalled.
const fencePatience = time.Second

// fence determines how a name appeared. The kernel distinguishes a name that was moved into place
// from one that was opened for writing, but fsnotify reports both as a creation. A file that is
// written under its name has an event for each write after the event of its creation. So once a
// file has content, the source causes an event on the fence's own file. When that event arrives,
// all earlier ones have arrived. If no write is among them, the content came with the name.
type fence struct {
	file *os.File
	// down is true from caughtUp until the event has arrived.
	down bool
}

func newFence(w *fswatch.Watch) (*fence, error) {
	f, err := os.CreateTemp("", "wardlet-fence-")
	if err != nil {
		return nil, fmt.Errorf("make a fence: %w", err)
	}
	// The watch is on the file, not its name, so the name can be removed.
	err = w.Add(f.Name())
	if err = errors.Join(err, os.Remove(f.Name())); err != nil {
		f.Close()
		return nil, fmt.Errorf("make a fence: %w", err)
	}
	return &fence{file: f}, nil
}

func (f *fence) close() {
	if f != nil {
		f.file.Close()
	}
}

// passed reports whether e is an event of the fence, and records its arrival.
func (f *fence) passed(e fsnotify.Event) bool {
	if f == nil || e.Name != f.file.Name() {
		return false
	}
	if e.Has(fsnotify.Write) {
		f.down = false
	}
	return true
}

// caughtUp records all events up to now. It returns false if some may be missing.
func (s *Source) caughtUp() bool {
	f := s.watch.fence
	if f == nil {
		return false
	}
	f.down = true
	if _, err := f.file.WriteAt([]byte{0}, 0); err != nil {
		return false
	}
	patience := time.NewTimer(fencePatience)
	defer patience.Stop()
	for f.down {
		select {
		case e, ok := <-s.watch.Events():
			s.noteLate(e, ok)
			if !ok {
				return false
			}
		case err, ok := <-s.watch.Errors():
			s.noteGap(err, ok)
			s.lookAt(s.cfg.Now())
			return false
		case <-patience.C:
			return false
		}
	}
	return true
}

// noteLate records an event that came after the listing. The event concerns the next listing, which
// follows at once.
func (s *Source) noteLate(e fsnotify.Event, ok bool) {
	if !s.note(e, ok) {
		return
	}
	s.lookAt(s.cfg.Now())
	if name := filepath.Base(e.Name); s.arrived[name] == created {
		s.late[name] = true
	}
}

// classify determines which of the new names appeared together with their content.
func (s *Source) classify(entries []entry) {
	var appeared []entry
	for _, e := range entries {
		if s.arrived[e.name] == created && e.err == nil && e.stamp.Size > 0 {
			appeared = append(appeared, e)
		}
	}
	if len(appeared) == 0 || !s.caughtUp() {
		return
	}
	for _, e := range appeared {
		if s.arrived[e.name] == created && !s.late[e.name] && !openForWriting(s.pathOf(e.name)) {
			s.arrived[e.name] = moved
		}
	}
}

// openForWriting reports whether a process has the file open for writing, and so may cause a write
// event later. If that is not known, it returns false.
func openForWriting(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	busy := false
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	// A read lease is refused while there is a writer.
	_ = conn.Control(func(fd uintptr) {
		_, err := unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_RDLCK)
		busy = errors.Is(err, unix.EAGAIN)
		if err == nil {
			_, _ = unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_UNLCK)
		}
	})
	return busy
}
