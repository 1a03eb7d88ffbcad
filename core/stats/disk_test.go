package stats

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wardlet/wardlet/core/internal/filesystem"
)

func TestDisks_of_fileSystemsThatHang(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answers := make(chan struct{})
		reader := &filesystem.Reader{ReadFunc: func(path string) (filesystem.State, error) {
			if path != "healthy" {
				<-answers
			}
			return filesystem.State{Capacity: 8, Free: 6, Available: 5, Inodes: 4, FreeInodes: 1}, nil
		}}
		ctx, cancel := context.WithTimeout(t.Context(), disksTime)
		defer cancel()
		d := disks{ctx: ctx, reader: reader, known: map[string]*disk{}}
		if fs := d.of("healthy"); fs == nil || *fs.UsedBytes != 2 || *fs.AvailableBytes != 5 || *fs.InodesUsed != 3 {
			t.Errorf("%+v", fs)
		}
		began := time.Now()
		for i := range 100 {
			if fs := d.of(strconv.Itoa(i)); fs != nil {
				t.Errorf("file system %d has an answer: %+v", i, fs)
			}
		}
		if took := time.Since(began); took > disksTime {
			t.Errorf("100 file systems that hang take %s", took)
		}
		close(answers)
	})
}
