package mux

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
)

func TestWhatTheDiskDoesNotTakeDoesNotGoOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		g := suppress(t, nil, d, docs(doc("a#0", "web", "u1", "web:1")), docs(doc("a#0", "web", "u2", "web:2")))
		d.fill(errors.New("no space left on device"))
		_, err := g.mux.Release(t.Context(), "default", "web")
		if err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("Release = %v, want it to say that the disk is full", err)
		}
		time.Sleep(limit)
		if got := g.got(); got != nil {
			t.Errorf("operations %q although nothing could be written", got)
		}
		if diff := cmp.Diff(ops("Deferred UPDATE u2 for u1"), g.suppressed()); diff != "" {
			t.Errorf("what waits (-want +got):\n%s", diff)
		}
		d.fill(nil)
		time.Sleep(11 * time.Second)
		if diff := cmp.Diff(ops("REMOVE u1 for u2", "ADD u2 for u1"), g.got()); diff != "" {
			t.Errorf("operations once it can be written (-want +got):\n%s", diff)
		}
	})
}

func TestAFullDiskHoldsBackWhatPassesAndIsAskedAboutAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, f := newDisk(), newSieve(passes)
		g := startFiltered(t, d, nil, f)
		d.fill(errors.New("no space left on device"))
		g.deliver("one", doc("a#0", "web", "u1", "web:1"))
		if got := g.got(); got != nil {
			t.Errorf("operations %q although nothing could be written", got)
		}
		if w := g.board.last["u1"]; w.Verdict.Reason != api.ReasonVerdictNotKept || !w.Suppressed {
			t.Errorf("it waits as %+v", w)
		}
		d.fill(nil)
		time.Sleep(11 * time.Second)
		if diff := cmp.Diff(ops("ADD u1"), g.got()); diff != "" {
			t.Errorf("operations once it can be written (-want +got):\n%s", diff)
		}
		if asked := f.questions(); len(asked) != 2 {
			t.Errorf("asked %q, want the question twice", asked)
		}
	})
}

// written returns the IDs of the records written since the last call.
func (d *disk) written() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	puts := d.puts
	d.puts = nil
	return puts
}

func TestSuppressionIsWrittenOnceAndAStatusNever(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, f := newDisk(), newSieve(passes)
		g := startFiltered(t, d, nil, f)
		g.deliver("one", doc("a#0", "web", "u1", "web:1"))
		g.got()
		d.written()
		f.turn(defers(time.Minute))
		g.deliver("one", doc("a#0", "web", "u1", "web:1", phase(v1.PodRunning)))
		time.Sleep(2 * limit)
		diff, puts := cmp.Diff(ops("RECONCILE u1"), g.got()), d.written()
		if diff != "" || puts != nil {
			t.Errorf("writes for a status: %q; operations (-want +got):\n%s", puts, diff)
		}
		g.deliver("one", doc("a#0", "web", "u1", "web:2"))
		time.Sleep(limit - time.Minute)
		if got, puts := g.got(), d.written(); got != nil || len(puts) != 2 {
			t.Errorf("writes %q, want one of the document and one of its suppression; operations %q", puts, got)
		}
		time.Sleep(time.Minute)
		diff, puts = cmp.Diff(ops("UPDATE u1"), g.got()), d.written()
		if diff != "" || len(puts) != 1 {
			t.Errorf("writes in the end: %q, want one; operations (-want +got):\n%s", puts, diff)
		}
	})
}
