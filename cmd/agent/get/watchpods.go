package get

import (
	"context"
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/server/client"
)

// podStream makes rows from a watch of pods: one whenever a pod has changed, and one with the last
// known state when it is gone.
type podStream struct {
	podPrinter
	pods  map[types.UID]v1.Pod
	waits []api.Waiting

	// changed and gone are the changes since the last batch.
	changed map[types.UID]bool
	gone    []v1.Pod
	// noted are the notes already printed for each pod.
	noted map[types.UID][]note
}

// stream is getter.stream. poll is the interval at which it checks for new notes. Some
// notes appear without a change of the pod, when something takes long.
func (p podPrinter) stream(ctx context.Context, c *client.Client, showEnv bool, poll time.Duration, batch func(listing) error) error {
	s := &podStream{podPrinter: p, pods: map[types.UID]v1.Pod{}, changed: map[types.UID]bool{}, noted: map[types.UID][]note{}}
	path := "/v1/pods?watch=true"
	if showEnv {
		path += "&env=show"
	}
	begun := false
	lines := lineReader{take: s.take, poll: poll, batch: func() error {
		events, err := probeEvents(ctx, c, s.list())
		if err != nil {
			return err
		}
		l := listing{entries: s.entries(events)}
		if p.wide && !begun {
			l.notes = foreignNotes(ctx, c)
		}
		begun = true
		return batch(l)
	}}
	return lines.read(ctx, c, path)
}

// take applies a line to the state of the stream.
func (s *podStream) take(line client.Line) error {
	if line.Type == api.WatchWaiting {
		s.waits = nil
		return decodeLine(line, &s.waits)
	}
	var p v1.Pod
	if err := decodeLine(line, &p); err != nil {
		return err
	}
	if line.Type == api.WatchDeleted {
		delete(s.pods, p.UID)
		delete(s.changed, p.UID)
		delete(s.noted, p.UID)
		s.gone = append(s.gone, p)
		return nil
	}
	s.pods[p.UID] = p
	s.changed[p.UID] = true
	return nil
}

// list returns the current pods, in no order.
func (s *podStream) list() []v1.Pod { return slices.Collect(maps.Values(s.pods)) }

// entries returns entries of the pods that changed since the last call or have new notes, with the
// pods that are gone first. They contain only notes that were not printed yet.
func (s *podStream) entries(events []api.Event) []entry {
	gone := s.podPrinter.entries(s.gone, nil, nil)
	for i := range gone {
		gone[i].notes = nil
	}
	all := slices.DeleteFunc(s.podPrinter.entries(s.list(), s.waits, events), func(e entry) bool {
		return !s.changed[types.UID(e.key)] && sameNotes(e.notes, s.noted[types.UID(e.key)])
	})
	for i := range all {
		e := &all[i]
		if uid := types.UID(e.key); sameNotes(e.notes, s.noted[uid]) {
			e.notes = nil
		} else {
			s.noted[uid] = e.notes
		}
	}
	s.gone = nil
	clear(s.changed)
	return append(gone, all...)
}
