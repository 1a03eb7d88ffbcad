//go:build e2e

package statusparity

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/test/conformance/instance"
	"github.com/wardlet/wardlet/test/conformance/recorder"
)

var (
	lives   = flag.Int("lives", 60, "how many pods live and die")
	seed    = flag.Uint64("seed", 1, "what they are made from")
	keep    = flag.String("keep", "", "a file that the recordings are written to, or the node's log beside it where an agent fails")
	replay  = flag.String("replay", "", "a file that the recordings are read from: nothing is played")
	regular = flag.Bool("regular", false, "all pods have regular containers alone, as in recordings of before")
	shown   = flag.Int("shown", 30, "how many differences are shown")
)

// enough is how many lives are needed for each rule to apply at least once. Some states last
// milliseconds, and few writes happen during them.
const enough = 300

func TestStatuses_areThoseOfAKubelet(t *testing.T) {
	all := makeLives(*seed, *lives)
	var plays map[string]*play
	if *replay != "" {
		text, err := os.ReadFile(*replay)
		if err == nil {
			err = json.Unmarshal(text, &plays)
		}
		if err != nil {
			t.Fatal(err)
		}
	} else {
		plays = record(t, all)
	}
	judge(t, all, plays["kubelet"], plays["wardlet"])
}

// record plays lives with both agents.
func record(t *testing.T, all []*life) map[string]*play {
	t.Helper()
	ctx := t.Context()
	i, err := instance.Start(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := i.Down(); err != nil {
			t.Error(err)
		}
	}()
	rec, err := recorder.Start(i)
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	i.Extra = []string{"NODE_VIA=" + rec.Kubeconfig}
	plays := map[string]*play{}
	for _, a := range []struct {
		name  string
		agent instance.Agent
	}{{"kubelet", instance.Kubelet}, {"wardlet", instance.Wardlet}} {
		began := time.Now()
		p, err := playAll(ctx, i, rec, a.agent, a.name, all)
		if err != nil {
			log := i.Log()
			if *keep != "" {
				if err := os.WriteFile(*keep+".log", []byte(log), 0o600); err != nil {
					t.Error(err)
				}
			}
			t.Fatalf("%v\nthe end of the node's log:\n%s", err, log[max(0, len(log)-5000):])
		}
		plays[a.name] = p
		t.Logf("%s: %d lives in %s", a.name, len(all), time.Since(began).Round(time.Second))
	}
	if *keep != "" {
		text, err := json.Marshal(plays)
		if err == nil {
			err = os.WriteFile(*keep, text, 0o600)
		}
		if err != nil {
			t.Error(err)
		}
	}
	return plays
}

// judge compares what two agents wrote.
func judge(t *testing.T, all []*life, theirs, ours *play) {
	t.Helper()
	met := map[string]int{}
	found, paths := differences(t, all, theirs, ours, met)
	for id, n := range met {
		t.Logf("rule %s: %d times", id, n)
	}
	document, err := os.ReadFile("../../../docs/differences.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules {
		switch {
		case met[r.id] > 0:
		case len(all) < enough:
			t.Logf("rule %s is not met in so few lives", r.id)
		default:
			t.Errorf("rule %s is never met", r.id)
		}
		if !strings.Contains(string(document), "\n| `"+r.id+"` |") {
			t.Errorf("rule %s has no line in docs/differences.md", r.id)
		}
	}
	for _, path := range paths {
		t.Error(path)
	}
	byName := map[string]*life{}
	for _, l := range all {
		byName[l.pod.Name] = l
	}
	for i := range found[:min(len(found), *shown)] {
		t.Errorf("%s\n%s", found[i].life, &found[i])
	}
	if len(found) > *shown {
		t.Errorf("and %d more", len(found)-*shown)
	}
}

// lostLog is a kubelet's message if it removed a container's log before it looked for the
// termination message there.
const lostLog = "Error on reading termination message from logs"

// raced reports whether a kubelet, for the last status of a pod that has ended, needed something
// that it had already removed: a log with a message, or the sandbox with the pod's addresses. A
// life with that race is not compared. There are only a few, so a rule for them would not apply in
// most runs.
func (h *history) raced() bool {
	last := h.final()
	return strings.Contains(last.String(), lostLog) || last["podIP"] == nil && slices.ContainsFunc(h.states, func(s state) bool {
		return s["podIP"] != nil
	})
}

// differences returns the findings that no rule explains. met is how often each rule applied.
func differences(t *testing.T, all []*life, theirs, ours *play, met map[string]int) (found []finding, paths []string) {
	t.Helper()
	a, err := theirs.histories(all)
	if err != nil {
		t.Fatal(err)
	}
	b, err := ours.histories(all)
	if err != nil {
		t.Fatal(err)
	}
	states, merges, spoiled := 0, 0, 0
	for _, l := range all {
		name := l.pod.Name
		if a[name] == nil || b[name] == nil {
			t.Errorf("%s was not seen", name)
			continue
		}
		if a[name].raced() {
			spoiled++
			continue
		}
		a[name].drop(true, met)
		b[name].drop(false, met)
		states += len(a[name].states) + len(b[name].states)
		differ, merged := compare(l, a[name], b[name])
		merges += merged
		found = append(found, slices.DeleteFunc(differ, func(f finding) bool { return explained(&f, met) })...)
	}
	if 50*spoiled > len(all) {
		t.Errorf("in %d lives a kubelet has removed a log or a sandbox before it read it", spoiled)
	}
	t.Logf("%d states, of which %d are but what the other wrote in another order; %d lives set aside", states, merges, spoiled)
	return found, pathDifferences(t, theirs, ours, met)
}

// drop removes from all states what, by a rule, only one agent writes.
func (h *history) drop(theirs bool, met map[string]int) {
	for _, r := range rules {
		if r.drop == nil && r.unit == nil {
			continue
		}
		for _, s := range h.states {
			for unit, is := range s {
				if r.unit != nil && r.unit(theirs, unit) {
					delete(s, unit)
					met[r.id]++
					continue
				}
				if of, ok := is.(value); ok && r.drop != nil && r.drop(theirs, unit, of) {
					met[r.id]++
				}
			}
		}
	}
	h.states = slices.CompactFunc(h.states, func(x, y state) bool { return x.String() == y.String() })
}

// explained reports whether a rule accepts a finding.
func explained(f *finding, met map[string]int) bool {
	for _, r := range rules {
		if r.accept != nil && r.accept(f) {
			met[r.id]++
			return true
		}
	}
	return false
}

// pathDifferences returns the fields that only one agent ever writes.
func pathDifferences(t *testing.T, theirs, ours *play, met map[string]int) (all []string) {
	t.Helper()
	a, err := theirs.paths()
	if err != nil {
		t.Fatal(err)
	}
	b, err := ours.paths()
	if err != nil {
		t.Fatal(err)
	}
	for i, side := range [][2]map[string]int{{a, b}, {b, a}} {
	next:
		for _, path := range slices.Sorted(maps.Keys(side[0])) {
			if side[1][path] > 0 {
				continue
			}
			for _, r := range rules {
				if r.path != nil && r.path(i == 0, path) {
					met[r.id]++
					continue next
				}
			}
			all = append(all, fmt.Sprintf("only the %s writes %s (%d times)", [...]string{"kubelet", "wardlet"}[i], path, side[0][path]))
		}
	}
	return all
}
