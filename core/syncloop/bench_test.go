package syncloop

import (
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/api"
)

// crowded is a world of 20 slots and the changes that bring it that many static pods.
func crowded(pods int) (*world, []api.Change) {
	w := newWorld("file")
	n := &v1.Node{}
	n.Status.Allocatable = v1.ResourceList{"pods": resource.MustParse("20"), "cpu": resource.MustParse("8"), "memory": resource.MustParse("16Gi")}
	w.loop.cfg.Admitter = admission.Chain{admission.StoredVerdict{}, admission.Fit{Node: func() *v1.Node { return n }}}
	var changes []api.Change
	for i := range pods {
		changes = append(changes, added(crowding(i)))
	}
	return w, changes
}

func crowding(i int) *v1.Pod {
	p := newStatic(types.UID(fmt.Sprintf("p%04d", i)))
	p.Spec.Containers = []v1.Container{{Name: "c"}}
	p.Spec.Containers[0].Resources.Requests = v1.ResourceList{"cpu": resource.MustParse("10m"), "memory": resource.MustParse("10Mi")}
	return p
}

// BenchmarkPodsThatWait takes in 2000 pods where 20 fit, and then a new version of one
// that runs: all that wait are judged again.
func BenchmarkPodsThatWait(b *testing.B) {
	const pods = 2000
	b.Run("taken in", func(b *testing.B) {
		for b.Loop() {
			w, changes := crowded(pods)
			w.loop.take(&api.Update{Changes: changes})
		}
	})
	b.Run("one is edited", func(b *testing.B) {
		w, changes := crowded(pods)
		w.loop.take(&api.Update{Changes: changes})
		for b.Loop() {
			w.loop.take(&api.Update{Changes: []api.Change{{Op: api.UpdateOp, Old: crowding(0), New: crowding(0)}}})
			w.loop.retry()
		}
		if waiting := len(w.loop.waiting); waiting != pods-20 {
			b.Fatalf("%d pods wait", waiting)
		}
	})
	b.Run("a hundred that wait are edited", func(b *testing.B) {
		w, changes := crowded(pods)
		w.loop.take(&api.Update{Changes: changes})
		for b.Loop() {
			var edits []api.Change
			for i := 20; i < 120; i++ {
				edits = append(edits, api.Change{Op: api.UpdateOp, Old: crowding(i), New: crowding(i)})
			}
			w.loop.take(&api.Update{Changes: edits})
		}
	})
}
