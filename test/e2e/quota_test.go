//go:build e2e

package e2e

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/test/fakecri"
)

const (
	racers = 50
	places = 10
	// courses is how many agents run races side by side.
	courses = 3
	// judges is the least number of pods that are judged at once: on a small machine the default
	// would be one, without any race.
	judges = 4
)

// races is how many races take place, one of them on a real runtime.
var races = flag.Int("races", 31, "how many races for a quota take place; make soak takes 100")

// contenders returns nearly identical pods in one manifest, so that the
// agent receives them all at once.
func contenders(round int) (manifest string, names []string) {
	var all []string
	for i := range racers {
		name := fmt.Sprintf("r%03d-%02d", round, i)
		names = append(names, name)
		all = append(all, within("team-a", imagePod(name, webOne, "")))
	}
	return strings.Join(all, "---\n"), names
}

// compete makes the pods of a round compete for the quota, waits until all are judged, and
// returns those that were admitted.
func (a *agent) compete(t *testing.T, round int) (admitted []string) {
	t.Helper()
	manifest, names := contenders(round)
	a.manifest(t, "race.yaml", manifest)
	eventually(t, fmt.Sprintf("all of round %d are judged", round), func(ctx context.Context) error {
		all, err := a.pods(ctx)
		if err != nil {
			return err
		}
		admitted = nil
		held := 0
		for _, name := range names {
			p, known := all[name+"-"+a.name]
			switch {
			case !known:
			case conditioned("wardlet.dev/Admitted", v1.PodPending, "QuotaExceeded", `policy "tenant-quota"`)(&p) == nil:
				held++
			case ready(p):
				admitted = append(admitted, p.Name)
			}
		}
		if len(all) != racers || held+len(admitted) != racers {
			return fmt.Errorf("of %d pods %d are held and %d run", len(all), held, len(admitted))
		}
		return nil
	})
	if len(admitted) != places {
		t.Errorf("round %d: %d pods run, want %d", round, len(admitted), places)
	}
	return admitted
}

// withQuota adds the quota that pods compete for to the agent. It must be called before
// start.
func (a *agent) withQuota(t *testing.T) {
	t.Helper()
	a.withPolicies(t)
	a.put(t, a.Path("policies"), "tenant-quota", "admit", example(t, "tenant-quota"),
		fmt.Sprintf("capabilities = [\"node.read\"]\n[settings.quota.\"team-*\"]\npods = %d\n", places))
}

func TestOfFiftyPodsThatRaceForAQuotaOfTenExactlyTenRun(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "race")
	a.withQuota(t)
	a.start(t)
	a.inForce(t, "tenant-quota")
	first := a.compete(t, 0)
	if made, err := n.marked(t.Context(), a.name); err != nil || made != 2*places {
		t.Errorf("%d sandboxes and containers, %v; want those of %d pods", made, err, places)
	}
	// A place in the quota that becomes free is taken once.
	manifest, _ := contenders(0)
	gone := strings.TrimSuffix(first[0], "-race")
	a.manifest(t, "race.yaml", strings.Replace(manifest, "name: "+gone+"\n", "name: late\n", 1))
	eventually(t, "the next one runs", func(ctx context.Context) error {
		all, err := a.pods(ctx)
		if err != nil {
			return err
		}
		if _, known := all[first[0]]; known {
			return fmt.Errorf("%s is still there", first[0])
		}
		alive, err := n.alive(ctx)
		if err != nil {
			return err
		}
		if len(alive) > places {
			t.Fatalf("%d pods run", len(alive))
		}
		if len(alive) < places {
			return fmt.Errorf("%d pods run", len(alive))
		}
		return nil
	})
	a.remove(t, "race.yaml")
	a.nothingLeft(t, n)
}

// TestAQuotaIsNeverOverdrawn repeats the race many times, on some agents side by
// side. The pods run in a runtime in memory, which counts its calls;
// everything else is real.
func TestAQuotaIsNeverOverdrawn(t *testing.T) {
	t.Parallel()
	for i := range courses {
		from, to := (*races-1)*i/courses, (*races-1)*(i+1)/courses
		t.Run(fmt.Sprintf("races %d to %d", from+1, to), func(t *testing.T) {
			t.Parallel()
			raceInMemory(t, from, to)
		})
	}
}

// raceInMemory runs the rounds from the first up to the second on one agent.
func raceInMemory(t *testing.T, from, to int) {
	t.Helper()
	memory := fakecri.Start(t)
	memory.Load(webOne, 1, fakecri.Program{})
	a := newAgentAt(t, memory.Endpoint(), "again")
	a.Env = append(a.Env, fmt.Sprintf("GOMAXPROCS=%d", max(judges+1, runtime.GOMAXPROCS(0)))) // the agent judges one pod fewer than this at once
	a.withQuota(t)
	a.start(t)
	a.inForce(t, "tenant-quota")
	for round := from; round < to; round++ {
		admitted := a.compete(t, round)
		var made []string
		for _, call := range memory.Calls("RunPodSandbox") {
			request, _ := call.Request.(*criapi.RunPodSandboxRequest)
			if name := request.GetConfig().GetMetadata().GetName(); strings.HasPrefix(name, fmt.Sprintf("r%03d-", round)) {
				made = append(made, name)
			}
		}
		slices.Sort(made)
		slices.Sort(admitted)
		if made = slices.Compact(made); !slices.Equal(made, admitted) || len(made) != places {
			t.Fatalf("round %d: sandboxes were made for %d pods %q, admitted are %q", round, len(made), made, admitted)
		}
		a.remove(t, "race.yaml")
		eventually(t, "the field is empty", func(ctx context.Context) error {
			all, err := a.pods(ctx)
			if err == nil && len(all) > 0 {
				err = fmt.Errorf("%d pods", len(all))
			}
			return err
		})
	}
	a.stop(t)
}
