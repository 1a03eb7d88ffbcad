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
)

func TestTheEndClosesEveryPluginAndAnswersNothingMore(t *testing.T) {
	t.Parallel()
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		d.policy("a", "wait")
		d.policy("b", "allow")
		p, l := listed(t, d, s)
		stop := run(t, p)
		for i := range 3 {
			p.Judge(question(strconv.Itoa(i)), func(v api.Verdict) { t.Errorf("verdict %+v after the end", v) })
		}
		<-s.waits
		time.AfterFunc(shutdownTime-time.Millisecond, func() { close(s.free) })
		stop()
		p.Judge(question("late"), func(v api.Verdict) { t.Errorf("verdict %+v after the end", v) })
		synctest.Wait()
		if in := s.inUse(); len(in) > 0 || l.count("given up") > 0 {
			t.Errorf("still loaded: %v; log: %q", in, l.lines())
		}
		if diff := cmp.Diff([]string{"a 0"}, s.called()); diff != "" {
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
			bubble(t, func(d tree, s *scripts) {
				t := d.t
				d.policy("looping", "wait", vector)
				d.write("a.yaml", manifestText)
				p, l := listed(t, d, s, func(c *Config) { c.Evaluators = 2 })
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error)
				go func() { ended <- p.Run(ctx) }()
				p.Judge(question("web"), func(api.Verdict) {})
				<-s.waits
				began := time.Now()
				cancel()
				if err := <-ended; !errors.Is(err, context.Canceled) || time.Since(began) != shutdownTime {
					t.Errorf("Run = %v after %s", err, time.Since(began))
				}
				if l.count("given up") != 1 || l.count("policy=looping") != 1 {
					t.Errorf("log: %q", l.lines())
				}
				close(s.free)
			})
		})
	}
}

func TestAnAnswerThatDoesNotComeBackIsGivenUp(t *testing.T) {
	t.Parallel()
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		d.policy("a", "allow")
		p, l := listed(t, d, s)
		stop := run(t, p)
		came, free := make(chan struct{}), make(chan struct{})
		p.Judge(question("web"), func(api.Verdict) { close(came); <-free })
		<-came
		stop()
		if l.count("the decision plane did not end in time") != 1 || l.count("policy=") > 0 {
			t.Errorf("log: %q", l.lines())
		}
		close(free)
	})
}
