package policy

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

func TestCountsThatAreNotWrittenAreKept(t *testing.T) {
	t.Parallel()
	withRecorder(t, func(t *testing.T, r *recorder, d *recordDisk, _ *policytest.Logs) {
		t.Helper()
		again := func() {
			r.put(recorded("web", "", "no", func() {}))
			synctest.Wait()
		}
		again()
		again()
		again()
		d.set(errors.New("the disk is full"), nil)
		time.Sleep(countsPeriod)
		again() // it was decided three times before
		d.set(nil, nil)
		d.counts = nil
		time.Sleep(countsPeriod)
		r.put(recorded("db", "", "no", func() {})) // nothing is repeated
		synctest.Wait()
		if len(d.counts) != 1 || d.counts[0].Count != 4 {
			t.Errorf("counts %+v", d.counts)
		}
	})
}
