package agent

import (
	"context"
	"errors"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// someParts imitates the sync loop, the mux and the workers. Each field is the answer for every
// pod.
type someParts struct{ loop, wanted, seen, terminated bool }

type partLoop struct{ someParts }

func (p partLoop) Removable(types.UID, string) bool { return p.loop }

func (p someParts) Wanted(types.UID) bool          { return p.wanted }
func (p someParts) Seen(string) bool               { return p.seen }
func (p someParts) KnownTerminated(types.UID) bool { return p.terminated }

func TestWhichPodsMayGo(t *testing.T) {
	t.Parallel()
	ended := someParts{seen: true, terminated: true}
	for name, tt := range map[string]struct {
		parts  someParts
		source string
		want   bool
	}{
		"one the loop lets go":               {someParts{loop: true}, "files", true},
		"one whose worker has seen it end":   {ended, "files", true},
		"not while it is being ended":        {someParts{seen: true}, "files", false},
		"not while a source wants it":        {someParts{seen: true, terminated: true, wanted: true}, "files", false},
		"not before its source was heard":    {someParts{terminated: true}, "files", false},
		"not if it is not known whose it is": {ended, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := removable{partLoop{tt.parts}, tt.parts, tt.parts}
			if got := r.Removable("u", tt.source); got != tt.want {
				t.Errorf("may go: %v", got)
			}
		})
	}
}

// failingCgroups fails to remove a cgroup with err.
type failingCgroups struct{ err error }

func (failingCgroups) Ensure(*v1.Pod) (string, error)            { return "", nil }
func (c failingCgroups) Remove(context.Context, types.UID) error { return c.err }

func TestACgroupThatStaysSaysNothingOfThePodsEnd(t *testing.T) {
	t.Parallel()
	busy := errors.New("in use")
	c := &endedCgroups{failingCgroups{busy}, &Agent{}} // without a collector to notify
	if err := c.Remove(t.Context(), "u"); !errors.Is(err, busy) {
		t.Errorf("got %v", err)
	}
}
