package main

import (
	"slices"
	"strings"
	"testing"
)

func TestAFigureIsJudgedByItsLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		value float64
		bound string
		ok    bool
	}{
		{"below a highest value", 1.9, atMost, true},
		{"a highest value", 2, atMost, true},
		{"above a highest value", 2.1, atMost, false},
		{"below a lowest value", 1.9, atLeast, false},
		{"a lowest value", 2, atLeast, true},
		{"above a lowest value", 2.1, atLeast, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := plain("x", c.value, "ratio").limited(c.bound, 2)
			if f.OK != c.ok || len(missed([]figure{f})) > 0 == c.ok {
				t.Errorf("got %+v", f)
			}
		})
	}
	if f := plain("x", 1e9, "ns"); !f.OK {
		t.Error("a figure without a limit misses it")
	}
}

func TestMedian(t *testing.T) {
	t.Parallel()
	for want, values := range map[float64][]float64{3: {9, 3, 1}, 2: {1, 3}, 7: {7}} {
		if got := median(values); got != want {
			t.Errorf("of %v: got %v, want %v", values, got, want)
		}
	}
}

// made returns costs in which our side grows by the factor growth from 100 to 10000 pods, and a
// kubelet's costs are ours multiplied by times.
func made(growth, times float64) costs {
	c := costs{}
	for _, t := range tasks {
		of := func(n float64) cost {
			return cost{Nanoseconds: n, Bytes: n, Allocations: n, PeakResident: n, PeakHeap: n, Retained: n}
		}
		n := 10.0
		if t.pods == 10000 && t.load == change {
			n *= growth
		}
		if t.side == kubelet {
			n *= times
		}
		c[t] = []cost{of(n), of(2 * n), of(n / 2)}
	}
	return c
}

func TestTheLimitsOfTheMux(t *testing.T) {
	t.Parallel()
	growing := []string{
		"mux-change-10000-vs-100", "mux-change-10000-vs-100-bytes", "mux-change-10000-vs-100-allocations",
	}
	slower := []string{
		"mux-change-1000-vs-kubelet", "mux-change-1000-vs-kubelet-bytes", "mux-change-1000-vs-kubelet-allocations",
	}
	for _, c := range []struct {
		name          string
		growth, times float64
		want          []string
	}{
		{"all are kept", 2, 50, nil},
		{"a change costs more on a large node", 2.1, 50, growing},
		{"a change costs more than a fiftieth of a kubelet's", 2, 49, slower},
		{"a first snapshot needs too much memory", 2, 1.5, append(slices.Clone(slower), "mux-snapshot-10000-memory")},
		{"a first snapshot takes too long", 2, 0.9, append(slices.Clone(slower), "mux-snapshot-10000-time", "mux-snapshot-10000-memory")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := missed(made(c.growth, c.times).figures())
			slices.Sort(got)
			if want := slices.Sorted(slices.Values(c.want)); !slices.Equal(got, want) {
				t.Errorf("missed %q, want %q", got, want)
			}
		})
	}
}

func TestFiguresHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, f := range made(1, 100).figures() {
		if names[f.Name] || strings.ToLower(f.Name) != f.Name || strings.ContainsAny(f.Name, " _") {
			t.Errorf("%q is there twice, or is not in kebab case", f.Name)
		}
		names[f.Name] = true
	}
}

func TestADriverThatFails(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"it ends with an error":     "echo why >&2; exit 3",
		"it prints something else":  "echo hello",
		"it has measured nothing":   "echo '{}'",
		"a snapshot took no memory": "echo '{\"nanoseconds\":1,\"bytes\":1,\"allocations\":1}'",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := task{ours, snapshot, 1, 1}.run(t.Context(), writeScript(t, script), t.TempDir())
			if err == nil {
				t.Fatalf("it counts as %+v", c)
			}
			if strings.Contains(script, "why") && !strings.Contains(err.Error(), "why") {
				t.Errorf("the error does not say why: %v", err)
			}
		})
	}
}
