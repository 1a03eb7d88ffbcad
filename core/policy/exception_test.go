package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

func TestThePodsOfManifestsAreKnownByTheirWrittenNameToo(t *testing.T) {
	t.Parallel()
	c := Config{Node: "edge"}
	static, other := policytest.Question("web-edge"), policytest.Question("web-edge", func(q *api.Question) { delete(q.Pod.Annotations, pod.AnnotationSource) })
	static.Pod.Annotations[pod.AnnotationSource] = "file"
	if diff := cmp.Diff([]string{"shop/web-edge", "shop/web"}, eval.NamesOf(&static, c.Node)); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	other.Pod.Annotations[pod.AnnotationSource] = "api"
	if diff := cmp.Diff([]string{"shop/web-edge"}, eval.NamesOf(&other, c.Node)); diff != "" {
		t.Errorf("names of a pod of the API server (-want +got):\n%s", diff)
	}
}
