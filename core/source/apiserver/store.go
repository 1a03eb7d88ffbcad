package apiserver

import (
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/manifest"
)

// store is what the reflector keeps up to date. It keeps nothing itself: it
// makes a delivery of every call. All calls come from the goroutine of Run;
// what it is given is its own.
type store struct {
	out  *outlet
	from manifest.APIFrom
}

// Replace takes a complete list.
func (s *store) Replace(list []any, _ string) error {
	docs := make([]api.Document, 0, len(list))
	for _, item := range list {
		docs = append(docs, s.document(item))
	}
	return s.out.replace(docs)
}

// Add takes a new pod.
func (s *store) Add(item any) error { return s.Update(item) }

// Update takes a new version of a pod.
func (s *store) Update(item any) error { return s.out.apply([]api.Document{s.document(item)}, nil) }

// Delete takes the last version of a pod that is gone.
func (s *store) Delete(item any) error { return s.out.apply(nil, []string{s.document(item).ID}) }

// Bookmark takes the word that there is nothing new.
func (s *store) Bookmark(string) error {
	s.out.good()
	return nil
}

// Resync is never asked for.
func (s *store) Resync() error { return nil }

// document makes a document of what the reflector gives, which has made sure
// of its type.
func (s *store) document(item any) api.Document { return manifest.FromAPI(item.(*v1.Pod), s.from) }
