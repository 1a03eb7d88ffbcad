package gate

import (
	"errors"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/admission/pacing"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

func TestSupported_Judge(t *testing.T) {
	t.Parallel()
	asked := &denying{}
	now := time.Unix(1e9, 0)
	s := Supported{
		Gate: asked, Pace: new(pacing.Pacing).Pace, Now: func() time.Time { return now },
		Check: func(p *v1.Pod) error {
			if len(p.Spec.InitContainers) > 0 {
				return errors.New("spec.initContainers: not supported by this version yet")
			}
			return nil
		},
	}
	judge := func(p *v1.Pod, op api.Op) (v api.Verdict) {
		s.Judge(api.Question{Op: op, Pod: p}, func(got api.Verdict) { v = got })
		return v
	}
	of := func(uid types.UID, source string, init ...v1.Container) *v1.Pod {
		p := adoptee(uid, "h")
		p.Annotations = map[string]string{pod.AnnotationSource: source}
		p.Spec.InitContainers = init
		return p
	}
	judge(of("plain", pod.SourceAPI), api.Add)
	judge(of("static", "manifests", v1.Container{}), api.Add)
	if !slices.Equal(asked.asked, []string{"ADD plain", "ADD static"}) {
		t.Errorf("asked about %q", asked.asked)
	}
	v := judge(of("init", pod.SourceAPI, v1.Container{}), api.Add)
	if v.Answer != api.Deny || v.Reason != api.ReasonUnsupportedField || v.Message != "spec.initContainers: not supported by this version yet" || !v.At.Equal(now) {
		t.Errorf("verdict %+v", v)
	}
	if len(asked.asked) != 2 {
		t.Errorf("asked about %q", asked.asked)
	}
}
