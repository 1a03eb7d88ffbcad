package condition

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// dearest are conditions that exceed the cost limit for a large pod, each with different
// operations.
var dearest = map[string]string{
	"nested":    "object.spec.containers.all(a, object.spec.containers.all(b, a.name != b.image))",
	"doubling":  "['0123456789']" + strings.Repeat(".map(x, x + x)", 16) + "[0] == ''",
	"list":      "object.spec.containers.all(a, !(a.image in object.spec.containers.map(b, b.name)))",
	"lists":     "[1]" + strings.Repeat(".map(x, [x, x])", 20) + ".size() == 1 && object.spec.containers.all(a, object.spec.containers.all(b, a.name != b.image))",
	"patterns":  "object.spec.containers.all(a, !a.image.matches('^(r|[a-z]|[./]){1,30}#'))",
	"pattern":   "object.spec.containers.all(a, a.args.all(s, !s.matches('(a|b|ab){1,30}c')))",
	"keys":      "object.spec.containers.all(a, object.metadata.annotations.exists(k, true))",
	"size":      "object.spec.containers.all(a, a.args.all(s, size(s) > 0))",
	"contains":  "object.spec.containers.all(a, a.args.all(s, !s.contains('aaaaaaaaab')))",
	"arguments": "object.spec.containers.all(a, a.args.all(s, s != 'x' + s))",
	"quantity":  "object.spec.containers.all(a, object.spec.containers.all(b, quantity('1') < quantity('2')))",
	"duration":  "object.spec.containers.all(a, a.args.all(s, duration(s.startsWith('x') ? s : '1h1m1s') > duration('1s')))",
}

// largePod returns a pod with many containers, long arguments and many annotations.
func largePod() *corev1.Pod {
	p := webPod()
	for i := range 5000 {
		p.Annotations[fmt.Sprintf("key-%d", i)] = "x"
	}
	for i := range 2000 {
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{
			Name: fmt.Sprintf("c-%d", i), Image: fmt.Sprintf("registry.example/%d", i), Args: []string{strings.Repeat("ab", 4000)},
		})
	}
	return p
}

// patience is far longer than an evaluation may take, even on a busy machine.
const patience = 5 * time.Second

func TestACostlyConditionIsStopped(t *testing.T) {
	t.Parallel()
	pod := largePod()
	for name, expression := range dearest {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := compiled(t, expression)
			begin := time.Now()
			matched, cost, err := c.Matches(NewInput(Request{Object: pod}))
			took := time.Since(begin)
			if matched || err == nil || !strings.Contains(err.Error(), "it costs more than 10000 for this pod") {
				t.Errorf("matches %t: %v", matched, err)
			}
			if cost != MaxCost {
				t.Errorf("cost %d, want %d", cost, MaxCost)
			}
			if took > patience {
				t.Errorf("it took %v", took)
			}
		})
	}
}

func TestAConditionThatCouldCostFarTooMuchIsRefused(t *testing.T) {
	t.Parallel()
	nested := "a.name == b.name"
	for _, v := range []string{"d", "c", "b", "a"} {
		nested = fmt.Sprintf("object.spec.containers.all(%s, %s)", v, nested)
	}
	for name, expression := range map[string]string{
		"four loops in each other": nested,
		"many doublings":           "['0123456789']" + strings.Repeat(".map(x, x + x)", 24) + "[0] == ''",
	} {
		_, err := Compile(expression)
		if err == nil {
			t.Errorf("%s: no error", name)
		} else if !strings.Contains(err.Error(), "nest") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCostsAre pins the costs of expressions. Costs are charged and recorded, so they must
// not change by accident, nor differ between machines.
func TestCostsAre(t *testing.T) {
	t.Parallel()
	long := webRequest()
	long.Object.Annotations["long"] = strings.Repeat("x", 1000)
	for expression, want := range map[string]uint64{
		"true":                            1,
		"object.spec.hostNetwork == true": 4,
		"object.metadata.labels['tier'] == 'web'":                                                   5,
		"'tier' in object.metadata.labels":                                                          4,
		"has(object.spec.hostUsers)":                                                                3,
		"object.spec.containers.exists(c, c.image.startsWith('registry.example/'))":                 15,
		"containers(object.spec).all(c, c.image.startsWith('registry.example/'))":                   32,
		"containers(object.spec).size() > 0":                                                        10,
		"object.metadata.labels.exists(k, k == 'tier')":                                             35,
		"'side' in object.spec.containers.map(c, c.name)":                                           35,
		"object.metadata.name in ['web', 'api']":                                                    3,
		"object.metadata.annotations['long'].size() > 0":                                            106,
		"object.metadata.annotations['long'] + 'y' == 'y'":                                          106,
		"object.metadata.annotations['long'].matches('^[a-z]+')":                                    317,
		"object.metadata.annotations['long'] in object.spec.containers.map(c, c.name)":              239,
		"quantity(object.spec.containers[0].resources.requests['memory']) < quantity('2Gi')":        48,
		"object.metadata.labels['nothing'] == ''":                                                   5,
		"request.time - duration('1h') < timestamp('2026-01-01T00:00:00Z')":                         4,
		"int(object.metadata.labels['tier']) == 1":                                                  9,
		"request.operation == 'ADD' && object.metadata.annotations['long'].contains('yyyyyyyyyyy')": 3,
	} {
		c := compiled(t, expression)
		_, cost, _ := c.Matches(NewInput(long))
		if cost != want {
			t.Errorf("%s costs %d, want %d", expression, cost, want)
		}
	}
}

// TestTheOrderOfAMapDoesNotMatter repeats evaluations, because Go iterates over a map in a
// different order each time.
func TestTheOrderOfAMapDoesNotMatter(t *testing.T) {
	t.Parallel()
	c := compiled(t, "object.metadata.annotations.exists(k, object.metadata.annotations[k] == 'yes')")
	first := compiled(t, "object.metadata.annotations.map(k, k)[0] == 'key-00'")
	r := webRequest()
	r.Object.Annotations = map[string]string{}
	for i := range 40 {
		r.Object.Annotations[fmt.Sprintf("key-%02d", i)] = "no"
	}
	r.Object.Annotations["key-20"] = "yes"
	_, want, err := c.Matches(NewInput(r))
	must(t, err)
	for range 50 {
		again := r
		again.Object = r.Object.DeepCopy()
		again.Object.Annotations = maps.Clone(r.Object.Annotations)
		matched, cost, err := c.Matches(NewInput(again))
		must(t, err)
		if !matched || cost != want {
			t.Fatalf("matches %t for %d, want true for %d", matched, cost, want)
		}
		if matched, _, err = first.Matches(NewInput(again)); err != nil || !matched {
			t.Fatalf("the first key is not the lowest: %v", err)
		}
	}
}

func TestWhatIsGoneThroughIsCountedBefore(t *testing.T) {
	t.Parallel()
	r := webRequest()
	r.Object.Annotations["long"] = strings.Repeat("a", maxText)
	for i := range 3000 {
		r.Object.Labels[fmt.Sprint("l", i)] = ""
	}
	for name, expression := range map[string]string{
		"a pattern":      "object.metadata.annotations['long'].matches('a*b') || true",
		"keys":           "object.metadata.labels.exists(k, true)",
		"a list":         "object.metadata.annotations['long'] in [object.metadata.name, object.metadata.namespace] || true",
		"doubled texts":  "[object.metadata.annotations['long']].all(x, (x + x).size() > 0) || true",
		"the time of it": "duration(object.metadata.annotations['long'] + 's') > duration('1s') || true",
	} {
		matched, cost, err := compiled(t, expression).Matches(NewInput(r))
		if matched || cost != MaxCost || err == nil {
			t.Errorf("%s: matches %t for %d: %v", name, matched, cost, err)
		}
	}
}
