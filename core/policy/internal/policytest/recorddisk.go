package policytest

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/state"
	"github.com/wardlet/wardlet/core/state/decisions"
)

// RecordDisk is a store of records that can fail or hang; see decisionlog.Records.
type RecordDisk struct {
	mu   sync.Mutex
	err  error
	hang chan struct{}
	// Only is the owner whose records hang; nil for all owners.
	Only    *string
	Batches int
	written []string
	Counts  []decisions.Count
	// records are the written records, the oldest first.
	records []decisions.Record
}

// Append keeps the records, fails, or hangs.
func (d *RecordDisk) Append(tenant string, entries []decisions.Entry) []error {
	d.mu.Lock()
	hang := d.hang
	if d.Only != nil && *d.Only != tenant {
		hang = nil
	}
	d.mu.Unlock()
	if hang != nil {
		<-hang
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Batches++
	errs := make([]error, len(entries))
	for i := range entries {
		if errs[i] = d.err; d.err == nil {
			r := entries[i].Record
			r.ID = fmt.Sprintf("%s-%d", tenant, len(d.written)+1)
			d.written = append(d.written, fmt.Sprintf("%s %s×%d", r.ID, r.Name, r.Count))
			d.records = append(d.records, *r)
		}
	}
	return errs
}

// Counted keeps the counts.
func (d *RecordDisk) Counted(_ string, counts []decisions.Count) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Counts = append(d.Counts, counts...)
	return d.err
}

// KeepFiles does nothing.
func (d *RecordDisk) KeepFiles(string, map[string][]byte) error { return nil }

// Newest returns the newest records.
func (d *RecordDisk) Newest(most int) ([]decisions.Record, error) {
	return d.records[max(0, len(d.records)-most):], nil
}

// Has returns the written records as texts.
func (d *RecordDisk) Has() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.written)
}

// Set sets the error that Append returns, and the channel that Append waits for.
func (d *RecordDisk) Set(err error, hang chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err, d.hang = err, hang
}

// RecordsIn opens the records of a state directory. closeAll, or the end of the test, closes
// them.
func RecordsIn(t *testing.T, path string) (log *decisions.Log, closeAll func()) {
	t.Helper()
	d, err := state.Open(path, slog.New(slog.DiscardHandler))
	// A process that another test starts may hold the lock of a closed directory until it
	// executes its program.
	for deadline := time.Now().Add(10 * time.Second); err != nil && strings.Contains(err.Error(), "another agent uses it") && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		d, err = state.Open(path, slog.New(slog.DiscardHandler))
	}
	Must(t, err)
	log, err = d.Decisions(map[string]int64{"": 4 << 20, "a": 1 << 20})
	Must(t, err)
	closeAll = sync.OnceFunc(func() {
		Must(t, log.Close())
		Must(t, d.Close())
	})
	t.Cleanup(closeAll)
	return log, closeAll
}
