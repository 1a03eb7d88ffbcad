//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/wardlet/wardlet/core/api"
)

// fleet is a web server that serves manifests.
type fleet struct {
	*httptest.Server
	mu   sync.Mutex
	body string
	down bool
}

func startFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.down {
			http.Error(w, "maintenance", http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte(f.body))
	}))
	t.Cleanup(f.Close)
	return f
}

// serves makes the fleet serve these manifests, or an error if there are none.
func (f *fleet) serves(manifests ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.body, f.down = strings.Join(manifests, "---\n"), len(manifests) == 0
}

// withFleet adds a second source to the agent, and more configuration.
// It must be called before start.
func (a *agent) withFleet(t *testing.T, f *fleet, rest string) {
	t.Helper()
	config, err := os.ReadFile(a.ConfigFile())
	if err != nil {
		t.Fatal(err)
	}
	a.write(t, a.ConfigFile(), string(config)+fmt.Sprintf("[[source]]\nname = \"fleet\"\nkind = \"http\"\nurl = %q\nperiod = \"1s\"\n%s", f.URL, rest))
}

// conflicts returns one line per conflict, with the states of its claims.
func (a *agent) conflicts(ctx context.Context) ([]string, error) {
	var all []api.Conflict
	if err := a.API.Get(ctx, "/v1/conflicts", &all); err != nil {
		return nil, err
	}
	var lines []string
	for _, c := range all {
		words := []string{c.Name + ":"}
		for _, claim := range c.Claims {
			words = append(words, claim.Source, string(claim.State))
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return lines, nil
}

func (a *agent) showsConflict(t *testing.T, want string) {
	t.Helper()
	eventually(t, "conflict is "+want, func(ctx context.Context) error {
		lines, err := a.conflicts(ctx)
		if err == nil && strings.Join(lines, "; ") != want {
			err = fmt.Errorf("conflicts: %q", lines)
		}
		return err
	})
}

func TestPodsComeFromAURLAndOutliveItsOutage(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	f := startFleet(t)
	f.serves(hostPod("web", "sleep"), hostPod("db", "sleep"))
	a := newAgent(t, n, "solo")
	a.withFleet(t, f, "")
	a.start(t)
	before := a.running(t, "web", "db")
	f.serves()
	eventually(t, "the outage shows", func(ctx context.Context) error {
		var sources []api.SourceState
		if err := a.API.Get(ctx, "/v1/sources", &sources); err != nil {
			return err
		}
		for _, s := range sources {
			if s.Name == "fleet" && strings.Contains(s.Err, "503") && s.Seen {
				return nil
			}
		}
		return fmt.Errorf("sources are %+v", sources)
	})
	a.kill()
	a.start(t)
	after := a.running(t, "web", "db")
	for name, p := range after {
		if was := before[name].Status.ContainerStatuses[0].ContainerID; p.Status.ContainerStatuses[0].ContainerID != was {
			t.Errorf("%s was restarted by a restart of the agent while its source was away", name)
		}
	}
	f.serves(hostPod("db", "sleep"))
	eventually(t, "what the URL no longer has is gone", func(ctx context.Context) error {
		pods, err := a.pods(ctx)
		if err == nil && len(pods) != 1 {
			err = fmt.Errorf("%d pods", len(pods))
		}
		return err
	})
	a.stop(t)
}

func TestTwoSourcesThatClaimOnePodAreIsolatedAndShown(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	f := startFleet(t)
	f.serves(hostPod("web", "sleep"))
	a := newAgent(t, n, "solo")
	a.withFleet(t, f, "")
	a.manifest(t, "web.yaml", hostPod("web", "sleep"))
	a.start(t)
	eventually(t, "the second one waits, and says so", func(context.Context) error {
		out, err := a.wardlet("get", "pods")
		if err == nil && (!strings.Contains(out, "WaitingForPredecessor") || !strings.Contains(out, "Running")) {
			err = fmt.Errorf("get pods shows:\n%s", out)
		}
		return err
	})
	lines, err := a.conflicts(t.Context())
	if err != nil || len(lines) != 1 || !strings.Contains(lines[0], "Runs") || !strings.Contains(lines[0], "Waits") {
		t.Errorf("conflicts: %q, %v; want one that runs and one that waits", lines, err)
	}
	a.remove(t, "web.yaml")
	eventually(t, "the other one runs alone", func(ctx context.Context) error {
		pods, err := a.pods(ctx)
		if err == nil && (len(pods) != 1 || !ready(pods["web-solo"])) {
			err = fmt.Errorf("pods are %v", pods)
		}
		return err
	})
	a.showsConflict(t, "")
	a.stop(t)
}

func TestTheSourceThatComesFirstWinsAndTheOtherTakesOver(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	f := startFleet(t)
	f.serves(hostPod("web", "sleep"))
	a := newAgent(t, n, "solo")
	a.withFleet(t, f, "[conflicts]\nrule = \"precedence\"\nprecedence = [\"static\", \"fleet\"]\n")
	a.start(t)
	fromFleet := a.running(t, "web")["web"].UID
	a.manifest(t, "web.yaml", hostPod("web", "sleep", "--label=static"))
	a.showsConflict(t, "web-solo: fleet Lost static Runs")
	var winner string
	eventually(t, "the winner runs", func(ctx context.Context) error {
		pods, err := a.pods(ctx)
		if p := pods["web-solo"]; err == nil && (len(pods) != 1 || p.UID == fromFleet || !ready(p)) {
			err = fmt.Errorf("pods are %v", pods)
		} else {
			winner = string(p.UID)
		}
		return err
	})
	f.serves()
	a.kill()
	a.start(t)
	if got := string(a.running(t, "web")["web"].UID); got != winner {
		t.Errorf("after a restart without the loser's source %s runs, want %s", got, winner)
	}
	f.serves(hostPod("web", "sleep"))
	a.remove(t, "web.yaml")
	eventually(t, "the loser takes over", func(ctx context.Context) error {
		pods, err := a.pods(ctx)
		if p := pods["web-solo"]; err == nil && (len(pods) != 1 || p.UID != fromFleet || !ready(p)) {
			err = fmt.Errorf("pods are %v", pods)
		}
		return err
	})
	a.stop(t)
}
