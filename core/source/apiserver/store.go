package apiserver

import (
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/manifest"
)

// store is what the reflector keeps up to date. It makes a delivery of every
// call, and keeps only which pods there are. All calls come from the goroutine
// of Run; what it is given is its own.
type store struct {
	out     *outlet
	from    manifest.APIFrom
	cluster cluster
}

// Replace takes a complete list. It fails where that is of another cluster: the
// reflector then reads the next one.
func (s *store) Replace(list []any, _ string) error {
	if err := s.cluster.check(list); err != nil {
		s.out.bad(err)
		return err
	}
	docs := make([]api.Document, 0, len(list))
	for _, item := range list {
		docs = append(docs, s.document(item))
	}
	if err := s.out.replace(docs); err != nil {
		return err
	}
	s.cluster.replaced(list)
	return nil
}

// Add takes a new pod.
func (s *store) Add(item any) error { return s.Update(item) }

// Update takes a new version of a pod.
func (s *store) Update(item any) error {
	s.cluster.pods[item.(*v1.Pod).UID] = true
	s.cluster.learn()
	return s.out.apply([]api.Document{s.document(item)}, nil)
}

// Delete takes the last version of a pod that is gone.
func (s *store) Delete(item any) error {
	delete(s.cluster.pods, item.(*v1.Pod).UID)
	return s.out.apply(nil, []string{s.document(item).ID})
}

// Bookmark takes the word that there is nothing new.
func (s *store) Bookmark(string) error {
	s.out.good()
	s.cluster.learn()
	return nil
}

// Resync is never asked for.
func (s *store) Resync() error { return nil }

// document makes a document of what the reflector delivers, which has made sure
// of its type.
func (s *store) document(item any) api.Document { return manifest.FromAPI(item.(*v1.Pod), s.from) }
