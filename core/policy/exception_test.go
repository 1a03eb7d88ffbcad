package policy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

func TestAnExceptionTakesPodsOutOfAPolicyUntilItExpires(t *testing.T) {
	t.Parallel()
	const exception = "deny\n[[exception]]\npods = [%q]\nowner = \"ops@example\"\nreason = \"migration\"\nexpires = %s"
	for name, test := range map[string]struct {
		pods, expires string
		covers        bool
	}{
		"by its name":                                  {"shop/web", `"2026-12-31"`, true},
		"by a pattern":                                 {"*/w*b", `"2026-12-31"`, true},
		"another namespace":                            {"shops/web", `"2026-12-31"`, false},
		"another name":                                 {"shop/we", `"2026-12-31"`, false},
		"on its last day":                              {"shop/web", `"2026-11-03"`, true},
		"after its last day":                           {"shop/web", `"2026-11-02"`, false},
		"a date that is no text":                       {"shop/web", `2026-11-03`, true},
		"a time later that day":                        {"shop/web", `"2026-11-03T12:00:01Z"`, true},
		"the very moment":                              {"shop/web", `"2026-11-03T12:00:00Z"`, false},
		"a time in another zone that is over":          {"shop/web", `"2026-11-03T12:30:00+01:00"`, false},
		"a time that is no text":                       {"shop/web", `2026-11-03T13:30:00+01:00`, true},
		"the name of the manifest of a node's own pod": {"shop/we", `"2026-12-31"`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := policytest.NewScripts()
			text := strings.Replace(strings.Replace(exception, "%q", `"`+test.pods+`"`, 1), "%s", test.expires, 1)
			loaded := loadScripts(t, s, text)
			v := judge(t.Context(), []*set{loaded}, deciding(policytest.Question("web")), api.Allow)
			if asked := len(s.Calls()) > 0; asked == test.covers {
				t.Errorf("asked %t: %+v", asked, v)
			}
			if !test.covers {
				return
			}
			o := v.Opinions[0]
			if v.Answer != api.Allow || o.Answer != api.Abstain || o.Reason != api.ReasonException ||
				!strings.HasPrefix(o.Message, "not asked: an exception of ops@example until 2") || !strings.HasSuffix(o.Message, ": migration") {
				t.Errorf("verdict %+v", v)
			}
		})
	}
}

func TestThePodsOfManifestsAreKnownByTheirWrittenNameToo(t *testing.T) {
	t.Parallel()
	c := Config{Node: "edge"}
	static, other := policytest.Question("web-edge"), policytest.Question("web-edge", func(q *api.Question) { delete(q.Pod.Annotations, pod.AnnotationSource) })
	static.Pod.Annotations[pod.AnnotationSource] = "file"
	if diff := cmp.Diff([]string{"shop/web-edge", "shop/web"}, c.names(&static)); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	other.Pod.Annotations[pod.AnnotationSource] = "api"
	if diff := cmp.Diff([]string{"shop/web-edge"}, c.names(&other)); diff != "" {
		t.Errorf("names of a pod of the API server (-want +got):\n%s", diff)
	}
}
