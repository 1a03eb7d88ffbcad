package admission

import (
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
)

// says is a check that always returns the same result and counts its calls.
type says struct {
	result Result
	asked  int
	last   *Attributes
}

func (s *says) Admit(a *Attributes) Result {
	s.asked++
	s.last = a
	return s.result
}

func TestTheFirstRefusalCounts(t *testing.T) {
	t.Parallel()

	ports := Result{Reason: "NodePorts", Message: "port 80 is taken"}
	memory := Result{Reason: "OutOfmemory", Message: "no memory left"}
	for _, c := range []struct {
		name    string
		answers []Result
		want    Result
		asked   []int
	}{
		{"an empty chain admits", nil, yes, nil},
		{"all must admit", []Result{yes, yes}, yes, []int{1, 1}},
		{"one refusal is enough", []Result{yes, ports, yes}, ports, []int{1, 1, 0}},
		{"who comes later is not asked", []Result{ports, memory}, ports, []int{1, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var chain Chain
			var handlers []*says
			for _, r := range c.answers {
				h := &says{result: r}
				handlers, chain = append(handlers, h), append(chain, h)
			}
			a := &Attributes{Pod: &v1.Pod{}}
			if got := chain.Admit(a); got != c.want {
				t.Errorf("Admit = %+v, want %+v", got, c.want)
			}
			for i, h := range handlers {
				if h.asked != c.asked[i] || h.asked > 0 && h.last != a {
					t.Errorf("handler %d was asked %d times with %+v, want %d times with the same", i, h.asked, h.last, c.asked[i])
				}
			}
		})
	}
}

func TestStoredVerdict(t *testing.T) {
	t.Parallel()
	verdict := func(answer api.Answer) *api.Verdict {
		return &api.Verdict{Answer: answer, Reason: "Why", Message: "because"}
	}
	refused := Result{Reason: "Why", Message: "because"}
	for _, c := range []struct {
		name    string
		verdict *api.Verdict
		want    Result
	}{
		{"where no policy was asked the pod is admitted", nil, Result{Admitted: true}},
		{"allow admits", verdict(api.Allow), Result{Admitted: true}},
		{"deny refuses with the verdict's words", verdict(api.Deny), refused},
		{"hold does not admit", verdict(api.Hold), refused},
		{"an answer nobody knows does not admit", verdict("maybe"), refused},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := (StoredVerdict{}).Admit(&Attributes{Pod: &v1.Pod{}, Verdict: c.verdict}); got != c.want {
				t.Errorf("Admit = %+v, want %+v", got, c.want)
			}
		})
	}
}
