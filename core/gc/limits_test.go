package gc

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// noon is the time at which the containers of these tests are examined.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// aged returns a pod with containers, newest first. Each is "id name state minutes", with its age
// at noon in minutes.
func aged(t *testing.T, uid types.UID, containers ...string) *status.ObservedPod {
	t.Helper()
	p := &status.ObservedPod{UID: uid}
	for _, text := range containers {
		var c status.ObservedContainer
		var minutes int
		if _, err := fmt.Sscan(text, &c.ID, &c.Name, &c.State, &minutes); err != nil {
			t.Fatal(err)
		}
		c.CreatedAt = noon.Add(-time.Duration(minutes) * time.Minute)
		p.Containers = append(p.Containers, c)
	}
	return p
}

func TestSurplusOfAPod(t *testing.T) {
	t.Parallel()
	crashed := []string{"c5 a running 1", "c4 a exited 2", "c3 a exited 3", "c2 a exited 4", "c1 a exited 5"}
	tests := map[string]struct {
		limits     Limits
		containers []string
		want       []string
	}{
		"one dead instance stays by default":         {DefaultLimits(), crashed, []string{"c3", "c2", "c1"}},
		"more stay where the limit says so":          {Limits{PerContainer: 3, Total: -1}, crashed, []string{"c1"}},
		"one stays even where the limit is none":     {Limits{PerContainer: 0, Total: -1}, crashed, []string{"c3", "c2", "c1"}},
		"what is young stays":                        {Limits{PerContainer: 1, Total: -1, MinAge: 4 * time.Minute}, crashed, []string{"c2", "c1"}},
		"nothing goes that is young":                 {Limits{PerContainer: 1, Total: -1, MinAge: time.Hour}, crashed, nil},
		"a container from the future is not young":   {Limits{PerContainer: 1, Total: -1, MinAge: time.Hour}, []string{"c2 a exited -500", "c1 a exited -5000000"}, []string{"c1"}},
		"what never started goes once it is not new": {DefaultLimits(), []string{"c3 a running 1", "c2 a created 2"}, []string{"c2"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, c := range tt.limits.surplus(aged(t, "u", tt.containers...), noon) {
				got = append(got, c.ID)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestTheNodesDeadContainersHaveATotal(t *testing.T) {
	t.Parallel()
	// Each container has one running and one dead instance. Container "a" of the first pod also has
	// p3, which exceeds the limit of one per container anyway.
	pods := [][]string{
		{"p1 a running 1", "p2 a exited 10", "p3 a exited 25"},
		{"q1 a running 1", "q2 a exited 30"},
		{"r1 a running 1", "r2 a exited 20", "s1 b running 1", "s2 b exited 40"},
	}
	tests := map[string]struct {
		limits Limits
		want   []string
	}{
		"no limit":                       {Limits{PerContainer: 1, Total: -1}, nil},
		"a limit that is not reached":    {Limits{PerContainer: 1, Total: 4}, nil},
		"beyond it the oldest go":        {Limits{PerContainer: 1, Total: 2}, []string{"q2", "s2"}},
		"none at all":                    {Limits{PerContainer: 1, Total: 0}, []string{"p2", "q2", "r2", "s2"}},
		"each container keeps its share": {Limits{PerContainer: 2, Total: 4}, []string{"p3"}},
		"what is young does not count":   {Limits{PerContainer: 1, Total: 1, MinAge: 25 * time.Minute}, []string{"s2"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var all []*status.ObservedPod
			for i, containers := range pods {
				all = append(all, aged(t, types.UID(strconv.Itoa(i)), containers...))
			}
			var got []string
			for id := range tt.limits.overTotal(all, noon) {
				got = append(got, id)
			}
			slices.Sort(got)
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestTheTotalIsOfPodsThatLiveOn(t *testing.T) {
	t.Parallel()
	n := goneNode()
	n.add("living", []string{"d2 main running t", "d1 main exited t"}, []string{"t ready"})
	n.add("other", []string{"e2 main running v", "e1 main exited v"}, []string{"v ready"})
	n.pods["other"].Containers[1].CreatedAt = noon // the younger of the two dead containers
	c, _ := newCollector(t, n)
	c.cfg.Limits.Total = 1
	once(t, c)
	var dead []string
	for _, call := range n.done() {
		if strings.HasPrefix(call, "container d") || strings.HasPrefix(call, "container e") {
			dead = append(dead, call)
		}
	}
	if diff := cmp.Diff([]string{"container d1"}, dead); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
