package cluster

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The node's status replaces what the node owns, and keeps what others wrote.
func TestNodeStatus(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	others := v1.NodeCondition{Type: "Others", Status: v1.ConditionTrue}
	there := &v1.Node{Status: v1.NodeStatus{
		DeclaredFeatures: []string{"Old"}, VolumesInUse: []v1.UniqueVolumeName{"a"},
		Conditions: []v1.NodeCondition{others, {Type: v1.NodeReady, Status: v1.ConditionUnknown}},
	}}
	is := &v1.Node{Status: v1.NodeStatus{
		DeclaredFeatures: []string{"New"}, NodeInfo: v1.NodeSystemInfo{BootID: "boot"},
		Conditions: []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}},
	}}
	want := v1.NodeStatus{
		DeclaredFeatures: []string{"New"}, VolumesInUse: []v1.UniqueVolumeName{"a"}, NodeInfo: v1.NodeSystemInfo{BootID: "boot"},
		Conditions: []v1.NodeCondition{others, {Type: v1.NodeReady, Status: v1.ConditionTrue, LastHeartbeatTime: metav1.NewTime(now)}},
	}
	if diff := cmp.Diff(want, nodeStatus(there, is, now)); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}
