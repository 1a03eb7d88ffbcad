package pod_test

import (
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/manifest"
	"github.com/wardlet/wardlet/core/pod"
)

// decoded returns a small pod from a manifest, with more lines below its container.
func decoded(t *testing.T, more ...string) *v1.Pod {
	t.Helper()
	return one(t, "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  containers:\n  - name: app\n    image: img\n"+
		strings.Join(more, "\n")+"\n")
}

// one returns the only pod of a manifest.
func one(t *testing.T, text string) *v1.Pod {
	t.Helper()
	docs := manifest.Decode([]byte(text), manifest.DecodeFrom{Source: "local", Kind: api.KindFile, File: "/m/web.yaml", NodeName: "Node-1"})
	if len(docs) != 1 || docs[0].Err != nil {
		t.Fatalf("decoded: %+v", docs)
	}
	return docs[0].Pod
}

func TestDiffLeavesBothPodsAlone(t *testing.T) {
	t.Parallel()
	p := decoded(t)
	q := p.DeepCopy()
	pod.Diff(p, q)
	if p.Annotations[pod.AnnotationSource] != "local" || q.Annotations[pod.AnnotationSource] != "local" {
		t.Error("an annotation is gone")
	}
}

// If one of these hashes changed, an upgrade could replace pods whose manifests have been edited
// since the pods started. A default that a newer version sets is such a change.
func TestMadeFrom_neverChanges(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, want string }{
		"little": {`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},"spec":{"containers":[{"name":"main","image":"web:1"}]}}`, "e6c34949697c240e6fc4c6663320efa7"},
		"much": {`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},"spec":{
			"hostNetwork":true,"nodeSelector":{"a":"b"},"priorityClassName":"system-node-critical",
			"securityContext":{"sysctls":[{"name":"kernel.shm_rmid_forced","value":"1"}]},
			"volumes":[{"name":"m","emptyDir":{"medium":"Memory","sizeLimit":"1Mi"}},{"name":"h","hostPath":{"path":"/data","type":"Directory"}}],
			"containers":[{"name":"main","image":"web:1","command":["a"],"args":["b"],"env":[{"name":"A","value":"b"}],"workingDir":"/tmp","tty":true,
				"ports":[{"containerPort":80,"hostPort":80}],"resources":{"limits":{"cpu":"500m","memory":"64Mi"}},
				"volumeMounts":[{"name":"m","mountPath":"/m"},{"name":"h","mountPath":"/h","readOnly":true}]}]}}`, "63f694bd60617fe4f484d9071b57db57"},
	} {
		if got, err := pod.MadeFrom(one(t, tc.text)); err != nil || got != tc.want {
			t.Errorf("%s: made from %s, %v; want %s", name, got, err, tc.want)
		}
	}
}
