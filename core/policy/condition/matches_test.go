package condition

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

func TestAConditionIsUsedByManyAtOnce(t *testing.T) {
	t.Parallel()
	conditions := []*Condition{
		compiled(t, "containers(object.spec).exists(c, c.image.startsWith('other.example/')) && oldObject == null"),
		compiled(t, "object.metadata.labels.exists(k, k == 'tier') && object.metadata.name.matches('^w')"),
		compiled(t, "quantity(object.spec.containers[0].resources.requests['memory']) == quantity('1Gi')"),
		compiled(t, "object.spec.securityContext.runAsNonRoot == false && request.time.getHours() == 12"),
	}
	shared := webRequest()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			in := NewInput(shared)
			for i := range 200 {
				c := conditions[i%len(conditions)]
				if matched, _, err := c.Matches(in); err != nil || !matched {
					t.Errorf("%s: %t, %v", c, matched, err)
					return
				}
			}
		})
	}
	all.Wait()
}

func TestConditionsAreCompiledByManyAtOnce(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				_, err := Compile("object.spec.hostNetwrk")
				if err == nil || !strings.HasSuffix(err.Error(), "did you mean hostNetwork?") {
					t.Errorf("%v", err)
				}
				if _, err = Compile("request.kind == 'file'"); err != nil {
					t.Error(err)
				}
				_, err = Compile("request.kid == 'file'")
				if err == nil || !strings.HasSuffix(err.Error(), "did you mean kind?") {
					t.Errorf("%v", err)
				}
			}
		})
	}
	all.Wait()
}

func TestOneInputServesManyConditions(t *testing.T) {
	t.Parallel()
	in := NewInput(webRequest())
	c := compiled(t, "object.metadata.annotations.exists(k, k == 'team')")
	_, first, err := c.Matches(in)
	must(t, err)
	_, _, err = compiled(t, "object.metadata.labels['nothing'] == ''").Matches(in)
	if err == nil {
		t.Error("no error")
	}
	matched, second, err := c.Matches(in)
	must(t, err)
	if !matched || first != second {
		t.Errorf("matches %t for %d, first for %d", matched, second, first)
	}
}

// broken is a program that fails in ways in which no real program should.
type broken struct {
	cel.Program
	value types.Bool
	err   error
	none  bool
}

func (b broken) Eval(any) (out ref.Val, details *cel.EvalDetails, err error) {
	if b.none {
		return types.NullValue, nil, nil
	}
	return b.value, nil, b.err
}

func TestAFailureNamesTheConditionOnOneLine(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("true || ", 100) + "\ntrue"
	for name, program := range map[string]cel.Program{
		"an error of many lines": broken{err: errors.New("first\nsecond\r\n" + strings.Repeat("x", 5000))},
		"no flag":                broken{none: true},
	} {
		c := &Condition{expression: long, program: program}
		matched, cost, err := c.Matches(NewInput(Request{}))
		if matched || cost != 1 || err == nil {
			t.Fatalf("%s: %t for %d: %v", name, matched, cost, err)
		}
		if !strings.HasPrefix(err.Error(), "the condition true || true") || strings.ContainsAny(err.Error(), "\n\r") || len(err.Error()) > 2*maxFault {
			t.Errorf("%s: %q", name, err.Error())
		}
	}
}

// TestAPanicIsAnError checks that a panic during an evaluation does not crash the agent.
func TestAPanicIsAnError(t *testing.T) {
	t.Parallel()
	c := compiled(t, "object.spec.hostNetwork")
	_, _, err := c.Matches(nil)
	if err == nil || !strings.Contains(err.Error(), "internal error") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
}
