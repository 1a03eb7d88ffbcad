package agent

import (
	"context"
	"errors"
	"os"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/gc"
)

// leftoverCgroups is a fake whose removal of a cgroup returns err.
type leftoverCgroups struct {
	gc.Cgroups
	err error
}

func (c leftoverCgroups) Remove(context.Context, types.UID) error { return c.err }

func TestOnlyForgottenProcessesEndWithACgroup(t *testing.T) {
	t.Parallel()
	busy, silent := errors.New("processes live there"), errors.New("no answer")
	for name, tc := range map[string]struct {
		busy, unknown, asked error
		idle                 bool
		ended                bool
		want                 error
	}{
		"nothing lives there":                               {idle: true},
		"what lives there is known to nobody":               {busy: busy, idle: true, ended: true},
		"the pod has no directory here":                     {busy: busy, unknown: os.ErrNotExist, idle: true, want: busy},
		"what lives there may be what the runtime runs":     {busy: busy, want: busy},
		"the runtime does not say whose it is what is left": {busy: busy, asked: silent, want: busy},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ended := false
			c := leftCgroups{
				Cgroups: leftoverCgroups{err: tc.busy},
				owner:   func(types.UID) (*v1.Pod, error) { return nil, tc.unknown },
				end:     func(context.Context, types.UID) error { ended = true; return nil },
				idle:    func(context.Context, types.UID) (bool, error) { return tc.idle, tc.asked },
			}
			if err := c.Remove(t.Context(), "u"); !errors.Is(err, tc.want) || ended != tc.ended {
				t.Errorf("ended is %t, error %v", ended, err)
			}
		})
	}
}
