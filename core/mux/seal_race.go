//go:build race

package mux

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	v1 "k8s.io/api/core/v1"
)

// immutability holds a checksum of every pod as its source delivered it. A pod is shared and must
// never change. Test builds with the race detector verify a pod whenever the mux drops it, and all
// pods when Run returns.
type immutability struct{ sums map[*v1.Pod][sha256.Size]byte }

func newImmutability() *immutability { return &immutability{map[*v1.Pod][sha256.Size]byte{}} }

func (s *immutability) put(p *v1.Pod) { s.sums[p] = digestOf(p) }

// drop forgets a pod and returns an error if it was changed.
func (s *immutability) drop(p *v1.Pod) error {
	if p == nil {
		return nil
	}
	err := s.verify(p)
	delete(s.sums, p)
	return err
}

func (s *immutability) check() error {
	for p := range s.sums {
		if err := s.verify(p); err != nil {
			return err
		}
	}
	return nil
}

func (s *immutability) verify(p *v1.Pod) error {
	if sum, sealed := s.sums[p]; sealed && sum != digestOf(p) {
		return fmt.Errorf("pod %s/%s (uid %s) was changed after its source had sent it", p.Namespace, p.Name, p.UID)
	}
	return nil
}

func digestOf(p *v1.Pod) [sha256.Size]byte {
	text, err := json.Marshal(p)
	if err != nil {
		text = []byte(err.Error())
	}
	return sha256.Sum256(text)
}
