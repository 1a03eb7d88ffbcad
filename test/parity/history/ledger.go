package history

import (
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
)

// key identifies a pod as a kubelet does.
type key struct {
	source string
	uid    types.UID
}

// ledger is the content of the sources as the node should understand it so far: the last readable
// version of every document, by source and ID.
type ledger map[string]map[string]holding

// holding is one document.
type holding struct {
	document
	// unreadable: the newest version cannot be read; the holding has an older one.
	unreadable bool
	// unconfirmed: the source has not delivered since the agent started.
	unconfirmed bool
}

func newLedger() ledger {
	l := ledger{}
	for _, s := range sources {
		l[s] = map[string]holding{}
	}
	return l
}

// restarted returns the ledger as it is after a restart of the agent.
func (l ledger) restarted() ledger {
	next := newLedger()
	for source, docs := range l {
		for id, h := range docs {
			h.unconfirmed = true
			next[source][id] = h
		}
	}
	return next
}

// after returns the ledger after a delivery.
func (l ledger) after(s *step) ledger {
	next := maps.Clone(l)
	docs := map[string]holding{}
	for _, d := range s.documents {
		had, ok := next[s.source][d.id]
		switch {
		case d.raw != nil:
			docs[d.id] = holding{document: d}
		case ok:
			had.unreadable, had.unconfirmed = true, false
			docs[d.id] = had
		}
	}
	next[s.source] = docs
	return next
}

// mirrorBars reports whether a mirror pod has the UID of another pod.
func (l ledger) mirrorBars() bool {
	for k, pods := range l.pods() {
		for other, all := range l.pods() {
			if k.uid == other.uid && slices.ContainsFunc(pods, pod.IsMirror) && (k != other || len(all) > 1) {
				return true
			}
		}
	}
	return false
}

// of returns the documents of a source, ordered by ID.
func (l ledger) of(source string) []holding {
	return slices.SortedFunc(maps.Values(l[source]), func(a, b holding) int { return strings.Compare(a.id, b.id) })
}

// pods returns the pods by key. A key that occurs in several documents has several pods.
func (l ledger) pods() map[key][]*v1.Pod {
	pods := map[key][]*v1.Pod{}
	for _, s := range sources {
		for _, h := range l.of(s) {
			k := key{s, h.raw.UID}
			pods[k] = append(pods[k], h.raw)
		}
	}
	return pods
}
