package plane

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy"
)

const (
	// fuelPerSecond is the budget for decisions about a tenant's pods, unless
	// agent.toml sets another one.
	fuelPerSecond = 500_000_000
	// reloadPeriod is how often the operator and the calm tenant change their sets
	// during the attack.
	reloadPeriod = time.Second
	// firstNumber is the number of the first set. All numbers have the same length,
	// because the cost of a decision must not change.
	firstNumber = 100_001
)

// attackTime is how long the hostile tenant attacks.
var attackTime = flag.Duration("attack", 10*time.Second, "how long a tenant does its worst; make soak takes 25s")

// neighbours are an operator, a calm tenant and a hostile one on a node.
type neighbours struct {
	*rig
	hostile hostile
	dirs    map[string]string // by owner
	number  int

	mu sync.Mutex
	// said are all verdicts on the calm tenant's pods, without the numbers
	// of the sets.
	said map[string]int
}

func newNeighbours(t *testing.T) *neighbours {
	t.Helper()
	home := t.TempDir()
	n := &neighbours{number: firstNumber, dirs: map[string]string{}, said: map[string]int{}}
	for owner, name := range map[string]string{"": "operator", "calm": "calm", "evil": "evil"} {
		n.dirs[owner] = filepath.Join(home, name)
		must(t, os.Mkdir(n.dirs[owner], 0o700))
		n.content(owner).put(t, n.dirs[owner], false)
	}
	n.rig = newRig(t, n.dirs[""],
		policy.Tenant{Name: "calm", Dir: n.dirs["calm"], Owns: namespaces("calm"), FuelPerSecond: fuelPerSecond},
		policy.Tenant{Name: "evil", Dir: n.dirs["evil"], Owns: namespaces("evil"), FuelPerSecond: fuelPerSecond},
	)
	n.hostile = hostile{rig: n.rig, dir: n.dirs["evil"]}
	known := words{}
	n.gate.check = func(q *api.Question, v *api.Verdict) error {
		if namespaces("evil")(q.Pod.Namespace) {
			return judgeHostile(q, v)
		}
		n.mu.Lock()
		n.said[numbers.ReplaceAllString(saidBy(v), "#")]++
		n.mu.Unlock()
		return known.check(v, "calm", "")
	}
	n.ready(t, "calm", "evil")
	for _, source := range []interface {
		Replace(context.Context, []api.Document) error
	}{n.source, n.rig.hostile} {
		must(t, source.Replace(t.Context(), nil))
	}
	return n
}

// numbers matches the numbers of sets, and their digests.
var numbers = regexp.MustCompile(`\b(1\d{5}|[0-9a-f]{64})\b`)

// content returns the next set of an owner. The operator's policy a has a fault that a
// tenant has found.
func (n *neighbours) content(owner string) content {
	n.number++
	for n.number%8 == 0 {
		n.number++
	}
	c := good(n.number, 0)
	if owner == "" {
		c.files["a.wasm"], c.files["a.toml"] = string(fragile()), written("a", fragile(), n.number, 0)
	}
	return c
}

// ask asks about a new pod of the calm tenant, and returns
// how long the answer took.
func (n *neighbours) ask(t *testing.T, number int) time.Duration {
	t.Helper()
	d := document("calm-1", fmt.Sprintf("asked-%d", number), "image", 1)
	answered := make(chan struct{})
	begun := time.Now()
	n.gate.Judge(api.Question{Op: api.Add, Pod: d.Pod, Origin: api.Origin{Source: sourceName, Document: d.ID}},
		func(api.Verdict) { close(answered) })
	select {
	case <-answered:
	case <-time.After(10 * time.Second):
		t.Error("no verdict within 10 s")
	}
	return time.Since(begun)
}

// reload changes the sets of the operator and the calm tenant until ctx ends,
// and checks that each set comes into force.
func (n *neighbours) reload(ctx context.Context, t *testing.T) (reloads int) {
	t.Helper()
	tick := time.NewTicker(reloadPeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return reloads
		case <-tick.C:
		}
		reloads++
		for _, owner := range []string{"", "calm"} {
			before := n.set(owner).Generation
			n.content(owner).put(t, n.dirs[owner], false)
			eventually(t, patience, func() string {
				if now := n.set(owner); now.Generation <= before || now.Refused != "" {
					return fmt.Sprintf("the new set of %q is not in force: %+v", owner, now)
				}
				return ""
			})
		}
	}
}

// TestIsolation lets a tenant attack while the operator and another tenant change
// their sets. The verdicts on the other tenant's pods must be the same as without the
// attack.
func TestIsolation(t *testing.T) {
	n := newNeighbours(t)
	for i := range 100 {
		n.ask(t, i)
	}
	quiet := slices.Collect(maps.Keys(n.said))
	if len(quiet) != 1 {
		t.Fatalf("of the calm tenant's pods different things are said while all is quiet: %q", quiet)
	}
	before := map[string]int{"": n.set("").Generation, "calm": n.set("calm").Generation}

	ctx, cancel := context.WithTimeout(t.Context(), *attackTime)
	defer cancel()
	var running sync.WaitGroup
	var asked, reloads int
	running.Go(func() { n.hostile.attack(ctx, t) })
	running.Go(func() { reloads = n.reload(ctx, t) })
	running.Go(func() {
		for ; ctx.Err() == nil; asked++ {
			n.ask(t, 1000+asked)
			time.Sleep(5 * time.Millisecond)
		}
	})
	running.Wait()

	for owner, generation := range before {
		set := n.set(owner)
		if !set.Ready || set.Refused != "" || set.Generation < generation+reloads {
			t.Errorf("after %d changes from generation %d the set of %q is %+v", reloads, generation, owner, set)
		}
	}
	n.judgeRecords(t, asked)
	evil := n.set("evil")
	n.stop()
	if said := slices.Collect(maps.Keys(n.said)); len(said) != 1 {
		t.Errorf("of the calm tenant's pods was said\n%q\nwhile all was quiet only\n%q", said, quiet)
	}
	for _, fault := range append(n.stream.faults, n.gate.faults...) {
		t.Error(fault)
	}
	if n.hostile.made < 10*hostilePods || n.hostile.rewrote < 100 || reloads < 5 || asked < 100 {
		t.Errorf("too little happened: %d hostile pods, %d hostile sets, %d changes of the others' sets, %d questions of the calm tenant",
			n.hostile.made, n.hostile.rewrote, reloads, asked)
	}
	t.Logf("in %s the hostile tenant made %d pods and wrote %d sets, of which %d came into force; the others changed theirs %d times; %d questions of the calm tenant",
		*attackTime, n.hostile.made, n.hostile.rewrote, evil.Generation, reloads, asked)
}

// judgeRecords checks that the newest decisions about the calm tenant are on record.
func (n *neighbours) judgeRecords(t *testing.T, asked int) {
	t.Helper()
	recorded := map[string]bool{}
	for _, d := range n.Decisions() {
		recorded[d.Name] = true
	}
	for i := asked - 100; i < asked; i++ {
		if name := fmt.Sprintf("asked-%d", 1000+i); !recorded[name] {
			t.Errorf("the decision about %s is not on record any more", name)
			return
		}
	}
}
