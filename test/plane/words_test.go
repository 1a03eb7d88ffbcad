package plane

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/wardlet/wardlet/core/api"
)

// words are the messages of the policies a and b of each set, by the set's owner and
// digest.
type words map[string]string

// check checks a verdict of the sets of these owners, in their order. The verdict must name one set
// of each owner and have the opinions of both policies of each. Their messages must be the same
// each time for that set, and no policy may have failed.
func (w words) check(v *api.Verdict, owners ...string) error {
	if len(v.Sets) != len(owners) || len(v.Opinions) != 2*len(owners) {
		return fmt.Errorf("%d sets and %d opinions, want %d and %d", len(v.Sets), len(v.Opinions), len(owners), 2*len(owners))
	}
	for i, owner := range owners {
		named, digest, found := strings.Cut(v.Sets[i], "/")
		if !found {
			named, digest = "", named
		}
		a, b := &v.Opinions[2*i], &v.Opinions[2*i+1]
		if named != owner || a.Tenant != owner || b.Tenant != owner || a.Policy != "a" || b.Policy != "b" {
			return errors.New("opinions and sets are not of one owner")
		}
		if a.Failure != "" || b.Failure != "" {
			return errors.New("a plugin failed")
		}
		said := a.Message + ", " + b.Message
		if w[owner+digest] = cmp.Or(w[owner+digest], said); w[owner+digest] != said {
			return fmt.Errorf("the set says %q, before it said %q", said, w[owner+digest])
		}
	}
	return nil
}
