package decisionlog

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/wardlet/wardlet/core/state/decisions"
)

// Options are what a recorder needs.
type Options struct {
	// Records stores decisions over restarts; see decisions.Log.
	Records Records
	// Tenants are the names of all tenants.
	Tenants []string
	// Version is the agent's version. Node is the node's name.
	Version, Node string
	Logger        *slog.Logger
	// Now is the wall clock.
	Now func() time.Time
}

// Recorder records decisions and then answers them. It has a tenantRecorder for each owner
// of pods, so that no owner waits for the records of another one.
type Recorder struct {
	cfg   Options
	shown *Decisions
	// of are the recorders by tenant, the operator's under the empty name. The map does not
	// change.
	of map[string]*tenantRecorder
}

// NewRecorder returns a recorder; Run starts it. freed is called when an owner is not
// behind any more.
func NewRecorder(c Options, shown *Decisions, freed func()) *Recorder {
	r := &Recorder{cfg: c, shown: shown, of: map[string]*tenantRecorder{"": newTenantRecorder(c, "", shown, freed)}}
	for _, name := range c.Tenants {
		r.of[name] = newTenantRecorder(c, name, shown, freed)
	}
	return r
}

// Put adds a decision. It does not wait for the disk.
func (r *Recorder) Put(x *Recording) {
	if r.cfg.Records == nil {
		r.shown.add(x.Decision, KeyOf(&x.Decision))
		x.Answer()
		return
	}
	r.of[x.Decision.Tenant].put(x)
}

// Behind reports whether too many decisions about an owner's pods wait for the
// disk.
func (r *Recorder) Behind(tenant string) bool {
	return r.cfg.Records != nil && r.of[tenant].behind()
}

// Run records decisions until ctx ends, and then those that are left. It must be called
// once, if there are Records.
func (r *Recorder) Run(ctx context.Context) {
	r.restore()
	var running sync.WaitGroup
	for _, o := range r.of {
		running.Go(func() { o.run(ctx) })
	}
	running.Wait()
}

// restore shows the records of an earlier process, which are not written again.
func (r *Recorder) restore() {
	records, err := r.cfg.Records.Newest(maxRestored)
	if err != nil {
		r.cfg.Logger.Error("some decisions on record cannot be read", "err", err)
	}
	for i := range records {
		d := &records[i]
		key := KeyOf(&d.Decision, inputsOf(d)...)
		r.shown.add(d.Decision, key)
		if o := r.of[d.Tenant]; o != nil {
			o.index.note(key, &d.Decision)
		}
	}
}

// Records stores decisions over restarts; see decisions.Log.
type Records interface {
	// Append writes records about one owner's pods to the disk and sets the ID of each.
	// It returns an error for each, nil for one that is on the disk.
	Append(tenant string, entries []decisions.Entry) []error
	// Counted stores how often decisions were repeated; it need not be durable.
	Counted(tenant string, counts []decisions.Count) error
	// KeepFiles writes the files of a set of policies to the disk, by digest.
	KeepFiles(tenant string, files map[string][]byte) error
	// Newest returns the newest records of each owner's pods.
	Newest(most int) ([]decisions.Record, error)
}

var _ Records = (*decisions.Log)(nil)
