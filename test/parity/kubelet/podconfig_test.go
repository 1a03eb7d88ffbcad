package kubelet_test

import (
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kubetypes "k8s.io/kubernetes/pkg/kubelet/types"

	"github.com/wardlet/wardlet/test/parity/kubelet"
)

func named(uid, name, image string) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid), Name: name, Namespace: "default"},
		Spec:       v1.PodSpec{Containers: []v1.Container{{Name: "c", Image: image}}},
	}
}

func ops(updates []kubelet.Update) (ops []kubetypes.PodOperation) {
	for _, u := range updates {
		ops = append(ops, u.Op)
	}
	return ops
}

// TestADeliveryIsCompleteAndAlone checks that Deliver returns all updates of a delivery, and that
// no update comes with a later delivery. This holds even if a snapshot names one UID or one name
// twice, so that merging it again would change something.
func TestADeliveryIsCompleteAndAlone(t *testing.T) {
	t.Parallel()
	a, b := named("1", "a", "x"), named("2", "b", "x")
	one, other := named("1", "a", "x"), named("1", "b", "y")
	for _, c := range []struct {
		name      string
		snapshots [][]*v1.Pod
		want      [][]kubetypes.PodOperation
	}{
		{"empty, then empty", [][]*v1.Pod{{}, {}}, [][]kubetypes.PodOperation{{kubetypes.ADD}, nil}},
		{
			"all operations in order",
			[][]*v1.Pod{{a, b}, {named("1", "a", "y"), named("3", "c", "x")}, {}},
			[][]kubetypes.PodOperation{{kubetypes.ADD}, {kubetypes.REMOVE, kubetypes.ADD, kubetypes.UPDATE}, {kubetypes.REMOVE}},
		},
		{
			"one UID under two names is merged twice each time",
			[][]*v1.Pod{{one, other}, {one, other}, {}},
			[][]kubetypes.PodOperation{{kubetypes.ADD}, {kubetypes.UPDATE}, {kubetypes.REMOVE}},
		},
		{
			"of two pods with one name the first counts",
			[][]*v1.Pod{{a, named("2", "a", "x")}, {named("2", "a", "x"), a}},
			[][]kubetypes.PodOperation{{kubetypes.ADD}, {kubetypes.REMOVE, kubetypes.ADD}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			k := kubelet.New("file")
			defer k.Stop()
			for i, pods := range c.snapshots {
				if got := ops(k.Deliver("file", pods)); !slices.Equal(got, c.want[i]) {
					t.Errorf("delivery %d: got %v, want %v", i, got, c.want[i])
				}
			}
			if extra := k.Deliver("file", nil); len(extra) > 1 {
				t.Errorf("left over: %v", ops(extra))
			}
		})
	}
}
