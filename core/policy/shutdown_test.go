package policy

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

func TestTheEndClosesEveryPluginAndAnswersNothingMore(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("a", "wait")
		d.Policy("b", "allow")
		p, l := listed(t, d, s)
		stop := run(t, p)
		for i := range 3 {
			p.Judge(policytest.Question(strconv.Itoa(i)), func(v api.Verdict) { t.Errorf("verdict %+v after the end", v) })
		}
		<-s.Waits
		time.AfterFunc(shutdownTime-time.Millisecond, func() { close(s.Free) })
		stop()
		p.Judge(policytest.Question("late"), func(v api.Verdict) { t.Errorf("verdict %+v after the end", v) })
		synctest.Wait()
		if in := s.InUse(); len(in) > 0 || l.Count("is abandoned") > 0 {
			t.Errorf("still loaded: %v; log: %q", in, l.Lines())
		}
		if diff := cmp.Diff([]string{"a 0"}, s.Calls()); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		if on := p.Decisions(); len(on) > 0 {
			t.Errorf("decisions %v", on)
		}
	})
}

func TestAPluginThatDoesNotComeBackIsGivenUpByName(t *testing.T) {
	t.Parallel()
	for name, vector := range map[string]string{
		"in a decision": "",
		"in a test":     "[[test]]\npod = \"a.yaml\"\nexpect = \"deny\"",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				d.Policy("looping", "wait", vector)
				d.Write("a.yaml", policytest.ManifestText)
				p, l := listed(t, d, s, func(c *Config) { c.Evaluators = 2 })
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error)
				go func() { ended <- p.Run(ctx) }()
				p.Judge(policytest.Question("web"), func(api.Verdict) {})
				<-s.Waits
				began := time.Now()
				cancel()
				if err := <-ended; !errors.Is(err, context.Canceled) || time.Since(began) != shutdownTime {
					t.Errorf("Run = %v after %s", err, time.Since(began))
				}
				if l.Count("is abandoned") != 1 || l.Count("policy=looping") != 1 {
					t.Errorf("log: %q", l.Lines())
				}
				close(s.Free)
			})
		})
	}
}

func TestAnAnswerThatDoesNotComeBackIsGivenUp(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("a", "allow")
		p, l := listed(t, d, s)
		stop := run(t, p)
		came, free := make(chan struct{}), make(chan struct{})
		p.Judge(policytest.Question("web"), func(api.Verdict) { close(came); <-free })
		<-came
		stop()
		if l.Count("the decision plane did not end in time") != 1 || l.Count("policy=") > 0 {
			t.Errorf("log: %q", l.Lines())
		}
		close(free)
	})
}
