//go:build e2e

package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/test/wasmtest"
)

const (
	// burners is how many policies burn fuel for each pod of the greedy tenant, and
	// greedyPods how many of these pods arrive at once.
	burners    = 10
	greedyPods = 200
	// loopTries is how often the rounds are repeated at most while all so far exceed the limit.
	loopTries = 3
	// maxDelay is the largest allowed ratio of a time under load to the time in the control.
	maxDelay = 1.5
)

// loopRounds is how many pairs of rounds are timed in one try: one control round and one
// under load.
var loopRounds = flag.Int("loops", 1, "how many rounds it is timed at once what loops do; make soak takes 3")

// burning returns a plugin that burns nearly all the fuel that a policy has by default,
// and then denies the pod.
func burning() []byte {
	const turns = 1_400_000 // of 7 units each
	m := wasmtest.Plugin()
	m.Admit(
		wasmtest.I32Const(turns), wasmtest.LocalSet(0),
		wasmtest.Loop(
			wasmtest.LocalGet(0), wasmtest.I32Const(1), wasmtest.I32Sub, wasmtest.LocalSet(0),
			wasmtest.LocalGet(0), wasmtest.BrIf(0),
		),
		wasmtest.I32Const(1),
	)
	return m.Bytes()
}

// TestDecisionsRunOffTheLoops makes 200 pods of one tenant burn fuel in ten policies
// each. Another tenant's pod must still start, restart and terminate in time: it
// waits for at most one decision, and no loop of the agent waits for any decision. In the
// control a process outside the agent uses the processor time that decisions use: on a machine
// with two processors, one busy processor alone makes the runtime's starts take 1.3 to 1.5 times
// as long.
func TestDecisionsRunOffTheLoops(t *testing.T) {
	n := startNode(t)
	a := newAgent(t, n, "loops")
	binary, err := plainBinary()
	if err != nil {
		t.Fatal(err)
	}
	a.Program = binary
	a.withPolicies(t)
	config, err := os.ReadFile(a.ConfigFile())
	if err != nil {
		t.Fatal(err)
	}
	// With so large a budget, only the order of the questions protects the
	// other tenant.
	a.write(t, a.ConfigFile(), string(config)+`
[[tenant]]
name = "greedy"
namespaces = ["greedy"]
fuel_per_second = 1_000_000_000_000
[[tenant]]
name = "calm"
namespaces = ["calm"]
`)
	for i := range burners {
		a.module(t, fmt.Sprintf("burner-%d", i), burning(), "[match]\nnamespaces = [\"greedy\"]\n")
	}
	a.module(t, "calm", wasmtest.Answering(0, "", ""), "")
	a.start(t)
	l := &loops{agent: a, node: n}
	nothing := func() {}
	l.round(t, 0, nothing) // creates what only the first pod needs

	var control, loud []delays
	for try := range loopTries {
		for i := range *loopRounds {
			number := 1 + 2*(try**loopRounds+i)
			idle := burnOutside(t)
			control = append(control, l.round(t, number, nothing))
			idle()
			loud = append(loud, l.round(t, number+1, func() { l.flood(t) }))
			l.dry(t)
		}
		t.Logf("control %v\nloud    %v", control, loud)
		if wrong := compare(control, loud); len(wrong) == 0 {
			return
		} else if try == loopTries-1 {
			t.Errorf("beside pods that burn fuel: %s", strings.Join(wrong, "; "))
		}
	}
}

// burnOutside keeps as many processors busy as an agent has evaluators by default,
// until idle is called.
func burnOutside(t *testing.T) (idle func()) {
	t.Helper()
	var burning []*exec.Cmd
	for range max(1, runtime.GOMAXPROCS(0)-1) {
		c := exec.CommandContext(t.Context(), "sh", "-c", "while :; do :; done")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		burning = append(burning, c)
	}
	return func() {
		for _, c := range burning {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	}
}

// loops is an agent whose loops are timed from outside the process.
type loops struct {
	*agent
	node node
	// floods is how many floods of the greedy tenant there were.
	floods int
}

// delays are three times: from a manifest until its container runs; from the
// exit of that container until the next one runs, which depends on PLEG; and from the
// removal of the manifest until the container has exited, which depends on the sync loop.
type delays struct{ start, restart, end time.Duration }

func (d delays) String() string {
	return fmt.Sprintf("start %s, restart %s, end %s", d.start.Round(time.Millisecond), d.restart.Round(time.Millisecond), d.end.Round(time.Millisecond))
}

// compare reports which medians are too long, compared with the medians of the control. A
// restart waits for the next relist of the runtime, so its time varies at random and is compared
// with the maximum of the control.
func compare(control, loud []delays) (wrong []string) {
	for what, of := range map[string]func(d delays) time.Duration{
		"a start":   func(d delays) time.Duration { return d.start },
		"a restart": func(d delays) time.Duration { return d.restart },
		"a removal": func(d delays) time.Duration { return d.end },
	} {
		before, after := sorted(control, of), sorted(loud, of)
		was, is := before[len(before)/2], after[len(after)/2]
		if what == "a restart" {
			was = before[len(before)-1]
		}
		if float64(is) > maxDelay*float64(was) {
			wrong = append(wrong, fmt.Sprintf("%s took %s, in the control %s; want at most %.1f times that", what, is, was, maxDelay))
		}
	}
	return wrong
}

func sorted(all []delays, of func(delays) time.Duration) []time.Duration {
	var list []time.Duration
	for _, d := range all {
		list = append(list, of(d))
	}
	slices.Sort(list)
	return list
}

// round times a pod of the calm tenant; before is called before each measurement.
func (l *loops) round(t *testing.T, number int, before func()) (d delays) {
	t.Helper()
	name := fmt.Sprintf("calm-%d", number)
	text := strings.Replace(imagePod(name, webOne, ""), "metadata:\n", "metadata:\n  namespace: calm\n", 1)
	text = strings.Replace(text, "terminationGracePeriodSeconds: 2", "terminationGracePeriodSeconds: 1", 1)
	before()
	begun := time.Now()
	l.manifest(t, name+".yaml", text)
	first := l.container(t, name, "")
	d.start = time.Since(begun)

	before()
	begun = time.Now()
	if _, err := l.node.CRI.StopContainer(t.Context(), &criapi.StopContainerRequest{ContainerId: first}); err != nil {
		t.Fatal(err)
	}
	second := l.container(t, name, first)
	d.restart = time.Since(begun)

	before()
	begun = time.Now()
	l.remove(t, name+".yaml")
	promptly(t, "the end of "+second, func(ctx context.Context) error {
		status, err := l.node.CRI.ContainerStatus(ctx, &criapi.ContainerStatusRequest{ContainerId: second})
		if err == nil && status.GetStatus().GetState() == criapi.ContainerState_CONTAINER_RUNNING {
			return errors.New("it runs")
		}
		return nil // exited, or gone already
	})
	d.end = time.Since(begun)
	return d
}

// container waits until the pod has a running container other than before,
// and returns its ID.
func (l *loops) container(t *testing.T, name, before string) (id string) {
	t.Helper()
	promptly(t, "a container of "+name, func(ctx context.Context) error {
		list, err := l.node.CRI.ListContainers(ctx, &criapi.ListContainersRequest{Filter: &criapi.ContainerFilter{
			State:         &criapi.ContainerStateValue{State: criapi.ContainerState_CONTAINER_RUNNING},
			LabelSelector: map[string]string{"io.kubernetes.pod.name": name + "-" + l.name},
		}})
		if err != nil {
			return err
		}
		for _, c := range list.GetContainers() {
			if id = c.GetId(); id != before {
				return nil
			}
		}
		return fmt.Errorf("none among %d", len(list.GetContainers()))
	})
	return id
}

// flood replaces the greedy tenant's pods by new ones, which all arrive at once,
// and returns when the first of them was judged.
func (l *loops) flood(t *testing.T) {
	t.Helper()
	l.floods++
	var text strings.Builder
	for i := range greedyPods {
		pod := imagePod(fmt.Sprintf("greedy-%d-%d", l.floods, i), webOne, "")
		text.WriteString("---\n" + strings.Replace(pod, "metadata:\n", "metadata:\n  namespace: greedy\n", 1))
	}
	l.manifest(t, "greedy.yaml", text.String())
	judged := 0
	promptly(t, "greedy pods are judged", func(ctx context.Context) (err error) {
		if judged, err = l.judged(ctx); err != nil || judged == 0 {
			return fmt.Errorf("%d pods are judged, %w", judged, err)
		}
		return nil
	})
	if judged == greedyPods {
		t.Errorf("all %d pods were judged at once: they burn nothing", judged)
	}
}

// dry waits until all pods of the last flood are judged, and removes them.
func (l *loops) dry(t *testing.T) {
	t.Helper()
	eventually(t, "all greedy pods are judged", func(ctx context.Context) error {
		if judged, err := l.judged(ctx); err != nil || judged < greedyPods {
			return fmt.Errorf("%d pods are judged, %w", judged, err)
		}
		return nil
	})
	l.remove(t, "greedy.yaml")
	l.nothingLeft(t, l.node)
}

// judged returns how many pods of the last flood are denied.
func (l *loops) judged(ctx context.Context) (judged int, err error) {
	pods, err := l.pods(ctx)
	for name, p := range pods {
		if strings.HasPrefix(name, fmt.Sprintf("greedy-%d-", l.floods)) && p.Status.Phase == v1.PodFailed {
			judged++
		}
	}
	return judged, err
}
