package policy

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

func TestTheCostOfAPatchGrowsWithPodAndPatch(t *testing.T) {
	t.Parallel()
	small := &v1.Pod{}
	large := policytest.SomePod("web")
	if patchCost(small, nil) <= 0 || patchCost(large, nil) <= patchCost(small, nil) || patchCost(small, make([]byte, 9)) <= patchCost(small, nil) {
		t.Errorf("%d, %d, %d", patchCost(small, nil), patchCost(large, nil), patchCost(small, make([]byte, 9)))
	}
	more := large.DeepCopy()
	more.Status.Phase, more.ManagedFields = v1.PodRunning, []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	if patchCost(more, nil) != patchCost(large, nil) {
		t.Errorf("what policies do not see costs %d", patchCost(more, nil)-patchCost(large, nil))
	}
}
