package apiserver

import (
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/manifest"
)

// store receives the updates of the reflector. It delivers every call at once, and keeps only the
// set of pods. All calls come from the goroutine of Run. The objects that it receives are not
// shared.
type store struct {
	out     *outlet
	from    manifest.APIFrom
	cluster cluster
}

// Replace delivers a complete list. It fails if the list is from another cluster: the reflector
// then reads the next one.
func (s *store) Replace(list []any, _ string) error {
	if err := s.cluster.check(list); err != nil {
		s.out.bad(err)
		return err
	}
	s.cluster.learn() // first, so that no pods run whose cluster could have been known
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

// Add delivers a new pod.
func (s *store) Add(item any) error { return s.Update(item) }

// Update delivers a new version of a pod.
func (s *store) Update(item any) error {
	s.cluster.pods[item.(*v1.Pod).UID] = true
	s.cluster.learn()
	return s.out.apply([]api.Document{s.document(item)}, nil)
}

// Delete delivers the removal of a pod. item is its last version.
func (s *store) Delete(item any) error {
	delete(s.cluster.pods, item.(*v1.Pod).UID)
	return s.out.apply(nil, []string{s.document(item).ID})
}

// Bookmark records that there is nothing new.
func (s *store) Bookmark(string) error {
	s.out.good()
	s.cluster.learn()
	return nil
}

// Resync is never called.
func (s *store) Resync() error { return nil }

// document returns the document of a pod from the reflector, which has checked its type.
func (s *store) document(item any) api.Document { return manifest.FromAPI(item.(*v1.Pod), s.from) }
