//go:build e2e

package e2e

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"github.com/wardlet/wardlet/test/harness"
	"github.com/wardlet/wardlet/test/privateruntime"
)

// Runtimes are independent: removing one does not affect the other's pods and network.
func TestTwoRuntimes(t *testing.T) {
	t.Parallel()
	first, second := startNode(t), startNode(t)
	if first.Subnet().Overlaps(second.Subnet()) {
		t.Fatalf("both runtimes have subnet %s", first.Subnet())
	}
	a, b := first.run(t, podSpec{name: "first"}), second.run(t, podSpec{name: "second"})
	answers(t, "http://"+first.address(t, a)+":8080/", "hello from first\n")
	url := "http://" + second.address(t, b) + ":8080/"
	answers(t, url, "hello from second\n")

	stopNode(t, first.Runtime)
	answers(t, url, "hello from second\n")
	c := second.run(t, podSpec{name: "third"})
	answers(t, "http://"+second.address(t, c)+":8080/", "hello from third\n")
	second.remove(t, b)
	second.remove(t, c)
}

// Another process can remove a runtime whose containerd was killed while pods ran.
func TestDownAfterKill(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	bridged := n.run(t, podSpec{name: "bridged"})
	answers(t, "http://"+n.address(t, bridged)+":8080/", "hello from bridged\n")
	n.run(t, podSpec{name: "host", hostNetwork: true, args: []string{"sleep"}})
	if err := n.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := privateruntime.Down(t.Context(), n.Name()); err != nil {
		t.Fatal(err)
	}
	for _, left := range n.Leftovers() {
		t.Errorf("left after Down: %s", left)
	}
}

// Without a running containerd, a forced removal still leaves nothing.
func TestDownByForce(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	bridged := n.run(t, podSpec{name: "bridged"})
	answers(t, "http://"+n.address(t, bridged)+":8080/", "hello from bridged\n")
	n.run(t, podSpec{name: "host", hostNetwork: true, args: []string{"sleep"}})
	if err := n.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	// A configuration that containerd refuses.
	if err := os.WriteFile("/run/wardlet-test/"+n.Name()+"/config.toml", []byte("version = 'none'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	stopNode(t, n.Runtime)
}

// Pods outlive a crash of containerd, and the runtime goes on with them.
func TestResume(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	p := n.run(t, podSpec{name: "steady"})
	url := "http://" + n.address(t, p) + ":8080/"
	answers(t, url, "hello from steady\n")
	if err := n.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	answers(t, url, "hello from steady\n")
	if err := n.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	n.remove(t, p)
}

// A name belongs to one runtime, and is free again afterwards; removing a runtime that does not
// exist succeeds.
func TestNames(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	_, err := privateruntime.Start(t.Context(), privateruntime.Options{Name: n.Name(), Dir: t.TempDir()})
	if !errors.Is(err, privateruntime.ErrRunning) {
		t.Errorf("starting a second runtime of one name: %v, want ErrRunning", err)
	}
	stopNode(t, n.Runtime)
	stopNode(t, n.Runtime)
	if err := privateruntime.Down(t.Context(), "never-was"); err != nil {
		t.Errorf("taking away what never was: %v", err)
	}
}

// Several runtimes start at the same time, each with a subnet of its own.
func TestStartAtOnce(t *testing.T) {
	t.Parallel()
	const number = 4
	runtimes, failed := make([]*privateruntime.Runtime, number), make([]error, number)
	dirs := make([]string, number)
	for i := range dirs {
		dirs[i] = t.TempDir()
	}
	var starts sync.WaitGroup
	for i := range number {
		starts.Go(func() {
			runtimes[i], failed[i] = privateruntime.Start(t.Context(), privateruntime.Options{Dir: dirs[i]})
		})
	}
	starts.Wait()
	var subnets []string
	for i, runtime := range runtimes {
		if failed[i] != nil {
			t.Error(failed[i])
			continue
		}
		subnets = append(subnets, runtime.Subnet().String())
	}
	slices.Sort(subnets)
	if len(slices.Compact(subnets)) != number {
		t.Errorf("%d runtimes have subnets %v", number, subnets)
	}
	var stops sync.WaitGroup
	for _, runtime := range runtimes {
		if runtime != nil {
			stops.Go(func() { failed[slices.Index(runtimes, runtime)] = runtime.Stop(context.Background()) })
		}
	}
	stops.Wait()
	for i, runtime := range runtimes {
		if failed[i] != nil {
			t.Error(failed[i])
		} else if left := runtime.Leftovers(); len(left) > 0 {
			t.Errorf("left of runtime %s: %v", runtime.Name(), left)
		}
	}
}

// If several callers start a runtime of one name at the same time, one succeeds, and the others
// do not affect it.
func TestStartOneNameAtOnce(t *testing.T) {
	t.Parallel()
	const number = 3
	name := "same-" + strconv.Itoa(os.Getpid())
	runtimes, failed := make([]*privateruntime.Runtime, number), make([]error, number)
	var starts sync.WaitGroup
	for i := range number {
		starts.Go(func() {
			runtimes[i], failed[i] = privateruntime.Start(t.Context(), privateruntime.Options{Name: name})
		})
	}
	starts.Wait()
	var winners []*privateruntime.Runtime
	for i, runtime := range runtimes {
		if runtime != nil {
			winners = append(winners, runtime)
		} else if !errors.Is(failed[i], privateruntime.ErrRunning) {
			t.Errorf("a loser got %v, want ErrRunning", failed[i])
		}
	}
	if len(winners) != 1 {
		t.Fatalf("%d got the name, want 1", len(winners))
	}
	if err := reached(name, func(s privateruntime.Status) bool { return s.PID != 0 && s.Ready }); err != nil {
		t.Error(err)
	}
	stopNode(t, &harness.Runtime{Runtime: winners[0]})
}

// starterVariable makes this test binary start a runtime of that name and then wait, to be killed.
const starterVariable = "WARDLET_TEST_STARTER"

// A runtime whose starter was killed, at whatever point, can be removed by another process.
func TestDownAfterStarterKilled(t *testing.T) {
	if name := os.Getenv(starterVariable); name != "" {
		if _, err := privateruntime.Start(t.Context(), privateruntime.Options{Name: name}); err != nil {
			t.Fatal(err)
		}
		<-t.Context().Done()
	}
	name := "orphan-" + strconv.Itoa(os.Getpid())
	t.Cleanup(func() {
		if err := privateruntime.Down(context.Background(), name); err != nil {
			t.Error(err)
		}
	})
	for _, state := range []struct {
		name    string
		reached func(privateruntime.Status) bool
	}{
		{"claimed", func(privateruntime.Status) bool { return true }},
		{"containerd started", func(s privateruntime.Status) bool { return s.PID != 0 }},
		{"ready", func(s privateruntime.Status) bool { return s.Ready }},
	} {
		t.Run(state.name, func(t *testing.T) {
			starter := exec.Command(os.Args[0], "-test.run", "^TestDownAfterStarterKilled$")
			starter.Env = append(os.Environ(), starterVariable+"="+name)
			if err := starter.Start(); err != nil {
				t.Fatal(err)
			}
			eventually(t, "a starter", func(context.Context) error { return reached(name, state.reached) })
			if err := starter.Process.Signal(syscall.SIGKILL); err != nil {
				t.Error(err)
			}
			// The starter was killed: its exit error is expected.
			_ = starter.Wait()
			if err := privateruntime.Down(t.Context(), name); err != nil {
				t.Fatal(err)
			}
			if err := reached(name, func(privateruntime.Status) bool { return true }); err == nil {
				t.Errorf("runtime %s is still known", name)
			}
			// A new runtime can use the name and all its resources again.
			again, err := privateruntime.Start(t.Context(), privateruntime.Options{Name: name})
			if err != nil {
				t.Fatal(err)
			}
			stopNode(t, &harness.Runtime{Runtime: again})
		})
	}
}

// reached returns nil if a runtime exists and fulfills a condition.
func reached(name string, condition func(privateruntime.Status) bool) error {
	all, err := privateruntime.List()
	if err != nil {
		return err
	}
	for _, status := range all {
		if status.Name == name && condition(status) {
			return nil
		}
	}
	return errors.New("runtime " + name + " is not there yet")
}
