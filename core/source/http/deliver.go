package http

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
)

// deliver hands a reading over.
func (s *Source) deliver(ctx context.Context, r reading) error {
	docs := r.docs
	if r.held() {
		docs = s.steady(docs)
	}
	s.remember(docs, r.whole)
	if r.whole {
		return s.cfg.Sink.Replace(ctx, docs)
	}
	return s.cfg.Sink.Apply(ctx, docs, nil)
}

// steady leaves out documents that stand under another one's ID while it is
// uncertain which pods there are: a separator that broke moves all that
// follow.
func (s *Source) steady(docs []pod.Document) []pod.Document {
	var kept []pod.Document
	for _, d := range docs {
		was, known := s.identities[d.ID]
		if d.Pod == nil || !known || was == pod.Identity(d.Pod) {
			kept = append(kept, d)
		}
	}
	return kept
}

// remember notes which identity stands under which ID. A whole reading forgets
// what it neither names nor speaks for: a bad document keeps its own last valid
// version, and if it was a list those of the items.
func (s *Source) remember(docs []pod.Document, whole bool) {
	was := s.identities
	if whole {
		s.identities = map[string]types.NamespacedName{}
	}
	for _, d := range docs {
		if d.Pod != nil {
			s.identities[d.ID] = pod.Identity(d.Pod)
			continue
		}
		for id, identity := range was {
			if id == d.ID || strings.HasPrefix(id, d.ID+".") {
				s.identities[id] = identity
			}
		}
	}
}
