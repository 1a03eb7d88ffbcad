package pacing

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

var instant = time.Unix(1e9, 0)

// question returns a question about a new pod.
func question(name string, change ...func(*api.Question)) api.Question {
	q := api.Question{Op: api.Add, Pod: &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)}}}
	for _, f := range change {
		f(&q)
	}
	return q
}

func in(namespace string) func(*api.Question) {
	return func(q *api.Question) { q.Pod.Namespace = namespace }
}

// ofController returns a question about a new pod that a controller created.
func ofController(name, controller string, change ...func(*api.Question)) api.Question {
	yes := true
	q := question(name, change...)
	q.Pod.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: controller, UID: types.UID(controller), Controller: &yes}}
	return q
}

func denial(reason string) api.Verdict {
	return api.Verdict{Answer: api.Deny, Policy: "p", Reason: reason, Message: "no"}
}

func TestAControllerThatMakesDeniedPodsAtOnceIsSlowedDown(t *testing.T) {
	t.Parallel()
	var c Pacing
	now := instant
	made := 0
	for now.Sub(instant) < 10*time.Minute {
		q := ofController(fmt.Sprint("p", made), "rs")
		made++
		v := c.Pace(&q, denial("No"), now)
		if made == 1 != (v.Answer == api.Deny) {
			t.Fatalf("pod %d: %+v", made, v)
		}
		for v.Answer == api.Hold {
			if v.Reason != "No" || !strings.Contains(v.Message, "other pods of ReplicaSet rs were denied") {
				t.Fatalf("verdict %+v", v)
			}
			now = now.Add(v.RetryAfter)
			v = c.Pace(&q, denial("No"), now)
		}
	}
	if made < 5 || made > 12 {
		t.Errorf("%d pods in 10 minutes", made)
	}
}

func TestWhatIsNotPaced(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		q     api.Question
		v     api.Verdict
		after time.Duration
	}{
		"the first of another controller":  {ofController("b", "other"), denial("No"), 0},
		"the first for another reason":     {ofController("b", "rs"), denial("Other"), 0},
		"one after a while":                {ofController("b", "rs"), denial("No"), paceWindow},
		"a pod without a controller":       {question("b"), denial("No"), 0},
		"an update":                        {ofController("b", "rs", func(q *api.Question) { q.Op = api.UpdateOp }), denial("No"), 0},
		"a pod that is admitted":           {ofController("b", "rs"), api.Verdict{Answer: api.Allow}, 0},
		"a pod that is held by its policy": {ofController("b", "rs"), api.Verdict{Answer: api.Hold, Reason: "No"}, 0},
	} {
		var c Pacing
		first := ofController("a", "rs")
		c.Pace(&first, denial("No"), instant)
		if got := c.Pace(&test.q, test.v, instant.Add(test.after)); got.Answer != test.v.Answer || got.RetryAfter != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestADenialThatWaitsIsNotPutOffByAnother(t *testing.T) {
	t.Parallel()
	var c Pacing
	for _, name := range []string{"a", "b", "c"} {
		q := ofController(name, "rs")
		c.Pace(&q, denial("No"), instant)
	}
	q := ofController("b", "rs")
	if v := c.Pace(&q, denial("No"), instant.Add(4*time.Second)); v.Answer != api.Hold || v.RetryAfter != 6*time.Second {
		t.Errorf("verdict %+v", v)
	}
	if v := c.Pace(&q, denial("No"), instant.Add(10*time.Second)); v.Answer != api.Deny {
		t.Errorf("verdict %+v", v)
	}
}

func TestLoopsThatWereQuietForLongestAreForgotten(t *testing.T) {
	t.Parallel()
	var c Pacing
	for i := range maxPaced + 10 {
		q := ofController("a", strconv.Itoa(i))
		c.Pace(&q, denial("No"), instant.Add(time.Duration(i)*time.Millisecond))
	}
	p := c.of("")
	if len(p.loops) != maxPaced || p.quiet.Len() != maxPaced {
		t.Errorf("%d and %d are known", len(p.loops), p.quiet.Len())
	}
	if _, known := p.loops[loopKey{"0", "", "p", "No"}]; known {
		t.Error("the first is still known")
	}
}

// byNamespace returns a Pacing in which each namespace is a tenant of its own.
func byNamespace() *Pacing {
	return &Pacing{Tenant: func(namespace string) string { return namespace }}
}

func TestATenantsManyControllersAndPodsLetNobodyElsesPass(t *testing.T) {
	t.Parallel()
	c := byNamespace()
	pace := func(namespace, name, controller string, after time.Duration) api.Answer {
		q := ofController(name, controller, in(namespace))
		return c.Pace(&q, denial("No"), instant.Add(after)).Answer
	}
	pace("victim", "a", "rs", 0)
	for i := range maxPaced + 1 {
		pace("hostile", "h", fmt.Sprint("rs", i), time.Second)
	}
	for i := range 3 * maxWaiting {
		pace("hostile", fmt.Sprint("h", i), "rs1", 2*time.Second)
	}
	if got := pace("victim", "b", "rs", 3*time.Second); got != api.Hold {
		t.Errorf("the victim's second: %s", got)
	}
	p := c.of("hostile")
	if n := len(p.loops[loopKey{"rs1", "", "p", "No"}].due); n != maxWaiting || p.waiting.Len() != n || len(p.loops) != maxPaced {
		t.Errorf("%d denials of %d wait, of %d loops", n, p.waiting.Len(), len(p.loops))
	}
}

func TestDenialsThatNobodyAsksForAreForgotten(t *testing.T) {
	t.Parallel()
	var c Pacing
	for i := range 100 {
		q := ofController(fmt.Sprint("p", i), "rs")
		c.Pace(&q, denial("No"), instant.Add(time.Duration(i)*time.Second))
	}
	p := c.of("")
	if n := p.waiting.Len(); n != 99 {
		t.Fatalf("%d wait", n)
	}
	other := ofController("a", "other")
	c.Pace(&other, denial("No"), instant.Add(denialDelays.Max+paceWindow+50*time.Second))
	if n := p.waiting.Len(); n != 49 || len(p.loops[loopKey{"rs", "", "p", "No"}].due) != n {
		t.Errorf("%d wait", n)
	}
	// A loop that begins anew leaves none behind.
	again := ofController("again", "rs")
	if v := c.Pace(&again, denial("No"), instant.Add(denialDelays.Max+paceWindow+50*time.Second)); v.Answer != api.Deny || p.waiting.Len() != 0 {
		t.Errorf("%s, %d wait", v.Answer, p.waiting.Len())
	}
}
