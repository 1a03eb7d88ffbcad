package agent

import (
	"context"
	"errors"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// parts answer as loop, mux and workers; each is true or false for every pod.
type parts struct{ loop, wanted, seen, terminated bool }

type partLoop struct{ parts }

func (p partLoop) Removable(types.UID, string) bool { return p.loop }

func (p parts) Wanted(types.UID) bool          { return p.wanted }
func (p parts) Seen(string) bool               { return p.seen }
func (p parts) KnownTerminated(types.UID) bool { return p.terminated }

func TestWhichPodsMayGo(t *testing.T) {
	t.Parallel()
	ended := parts{seen: true, terminated: true}
	for name, tt := range map[string]struct {
		parts  parts
		source string
		want   bool
	}{
		"one the loop lets go":               {parts{loop: true}, "files", true},
		"one whose worker has seen it end":   {ended, "files", true},
		"not while it is being ended":        {parts{seen: true}, "files", false},
		"not while a source wants it":        {parts{seen: true, terminated: true, wanted: true}, "files", false},
		"not before its source was heard":    {parts{terminated: true}, "files", false},
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

// failingCgroups cannot remove one that is busy.
type failingCgroups struct{ err error }

func (failingCgroups) Ensure(*v1.Pod) (string, error)         { return "", nil }
func (c failingCgroups) End(context.Context, types.UID) error { return c.err }

func TestACgroupThatStaysSaysNothingOfThePodsEnd(t *testing.T) {
	t.Parallel()
	busy := errors.New("in use")
	c := &endedCgroups{podCgroups: failingCgroups{busy}, removals: &removals{}} // without a collector to tell
	if err := c.Remove(t.Context(), "u"); !errors.Is(err, busy) {
		t.Errorf("got %v", err)
	}
}
