package http

import (
	"context"

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
// what it does not name.
func (s *Source) remember(docs []pod.Document, whole bool) {
	if whole {
		s.identities = map[string]types.NamespacedName{}
	}
	for i := range docs {
		if identity := docs[i].Identity(); identity.Name != "" {
			s.identities[docs[i].ID] = identity
		}
	}
}
