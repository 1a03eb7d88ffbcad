package abi

import (
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
)

// requestFor returns a request about a pod that a source adds.
func requestFor(p *v1.Pod) *Request {
	return &Request{Time: abitest.Time, Question: &api.Question{
		Op: api.Add, Pod: p, Origin: api.Origin{Source: "manifests", Document: "/m/web.yaml#0"},
	}}
}

// TestQuery_resetKeepsNothing checks that a call cannot read the pod of an earlier call.
func TestQuery_resetKeepsNothing(t *testing.T) {
	t.Parallel()
	q, merge := put(requestFor(abitest.FullPod())), mergeRequest()
	merge.Current = abitest.Pod("a")
	q.SetMerge(merge)
	var d Documents
	if _, ok := d.Of(q, documentObject); !ok {
		t.Error("no document")
	}
	q.Reset()
	d.Reset(1 << 20)
	if first := q.candidates[:1][0]; first.Object != nil || first.Source != "" {
		t.Errorf("the candidate %+v is kept", first)
	}
	if q.object != nil || q.old != nil || q.request.Source != "" || q.nodeKnown || len(d.text) > 0 || len(d.made) > 0 {
		t.Errorf("%+v and %q are kept", q, d.text)
	}
	var r Record
	declared(t, "object.metadata.labels").Write(&r, put(requestFor(abitest.FullPod())), MaxRecord)
	r.Reset(1 << 20)
	if len(r.Out) > 0 {
		t.Errorf("%q is kept", r.Out)
	}
	for _, e := range r.entries {
		if e.key != "" {
			t.Errorf("the label %s is kept", e.key)
		}
	}
}
