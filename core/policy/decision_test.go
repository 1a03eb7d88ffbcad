package policy

import (
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

func TestOnlyPodsOfFilesAreExempt(t *testing.T) {
	t.Parallel()
	c := Config{Node: "edge", Exempt: []string{"shop/web"}, Kinds: map[string]string{"static": "file", "cluster": "api"}, Now: time.Now}
	p := New(c)
	for name, test := range map[string]struct {
		change func(*api.Question)
		want   bool
	}{
		"named":                 {func(*api.Question) {}, true},
		"named as its manifest": {func(q *api.Question) { q.Pod.Name = "web-edge" }, true},
		"not named":             {func(q *api.Question) { q.Pod.Name = "other" }, false},
		"in another namespace":  {func(q *api.Question) { q.Pod.Namespace = "other" }, false},
		"of the API server":     {func(q *api.Question) { q.Origin.Source = "cluster" }, false},
	} {
		q := policytest.Question("web", test.change)
		q.Pod.Annotations[pod.AnnotationSource] = "file"
		if got := p.exempt(&q, eval.NamesOf(&q, c.Node)); got != test.want {
			t.Errorf("%s: exempt %t", name, got)
		}
	}
}

func TestAnExemptPodPassesWhereNoSetIsReadyAndThatIsLogged(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Write("broken.toml", "api = 1")
		p, l := listed(t, d, s, func(c *Config) { c.Exempt = []string{"shop/dns"} })
		run(t, p)
		for name, want := range map[string]api.Answer{"dns": api.Allow, "web": api.Hold} {
			if got := ask(t, p, policytest.Question(name)); got.Answer != want || got.Reason != api.ReasonPoliciesNotReady {
				t.Errorf("%s: %+v", name, got)
			}
		}
		if l.Count("exempt and passes") != 1 {
			t.Errorf("logged: %q", l.Lines())
		}
	})
}
