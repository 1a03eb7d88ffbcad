package runtime

import (
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/test/fakecri"
)

func TestAPodIsIdleWhereNothingOfItRunsAndNothingIsForeign(t *testing.T) {
	t.Parallel()
	stopped := func(t *testing.T, r *rig, p *v1.Pod) {
		t.Helper()
		sandbox := r.runSandbox(t, p)
		if err := r.StopSandbox(t.Context(), sandbox); err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct {
		prepare func(t *testing.T, r *rig, p *v1.Pod)
		foreign bool
		want    bool
	}{
		"the runtime does not know it": {prepare: func(*testing.T, *rig, *v1.Pod) {}, want: true},
		"its sandbox is over":          {prepare: stopped, want: true},
		"its sandbox is ready":         {prepare: func(t *testing.T, r *rig, p *v1.Pod) { t.Helper(); r.runSandbox(t, p) }},
		"its container runs": {prepare: func(t *testing.T, r *rig, p *v1.Pod) {
			t.Helper()
			r.start(t, p, fakecri.Program{})
		}},
		"the runtime keeps its container": {prepare: func(t *testing.T, r *rig, p *v1.Pod) {
			t.Helper()
			id := r.start(t, p, fakecri.Program{})
			r.cri.Keep(id)
			observed, err := r.InspectPod(t.Context(), p.UID)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.StopSandbox(t.Context(), observed.Sandboxes[0].ID); err != nil {
				t.Fatal(err)
			}
		}, want: true},
		"it is another installation's": {prepare: stopped, foreign: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			p := newPod("web")
			tc.prepare(t, r, p)
			asked := r.Runtime
			if tc.foreign {
				asked = connect(t, r.cri, t.TempDir(), "install-2")
			}
			idle, err := asked.Idle(t.Context(), p.UID)
			if err != nil || idle != tc.want {
				t.Errorf("idle is %t, %v", idle, err)
			}
		})
	}
}

func TestAPodIsNotIdleWhereTheRuntimeDoesNotSay(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"ListPodSandbox", "ListContainers"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.cri.Fail(method, status.Error(codes.Unknown, "no answer"))
			if idle, err := r.Idle(t.Context(), "uid-web"); idle || err == nil {
				t.Errorf("idle is %t, %v", idle, err)
			}
		})
	}
}
