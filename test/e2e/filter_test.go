//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/api"
	clock "github.com/wardlet/wardlet/core/node"
	"github.com/wardlet/wardlet/test/wasmtest"
)

// closed returns the rest of a change-window policy for the pods that a selector matches. Its only
// window is two to four days away.
func closed(selector, limit string) string {
	day := strings.ToLower(time.Now().UTC().AddDate(0, 0, 3).Format("Mon"))
	return fmt.Sprintf("[match]\nlabel_selector = %q\n[limits]\nmax_suppress = %q\n[settings]\nwindows = [{ days = [%q], from = \"11:00\", to = \"13:00\" }]\n",
		selector, limit, day)
}

// outside returns the reason that change-window uses outside of its windows.
func outside() string {
	if clock.ClockSynchronized() {
		return "OutsideChangeWindow"
	}
	return "ClockUnsynchronized"
}

// waiting returns the updates that wait, by the names of their pods without the
// node's name.
func (a *agent) waiting(ctx context.Context) (map[string]api.WaitingUpdate, error) {
	var list []api.WaitingUpdate
	if err := a.API.Get(ctx, "/v1/updates", &list); err != nil {
		return nil, err
	}
	all := map[string]api.WaitingUpdate{}
	for _, u := range list {
		all[strings.TrimSuffix(u.Name, "-"+a.name)] = u
	}
	return all, nil
}

// suppressed waits until the updates of exactly these pods are suppressed,
// and returns them.
func (a *agent) suppressed(t *testing.T, names ...string) map[string]api.WaitingUpdate {
	t.Helper()
	var all map[string]api.WaitingUpdate
	eventually(t, "updates of "+strings.Join(names, ", ")+" wait", func(ctx context.Context) (err error) {
		if all, err = a.waiting(ctx); err != nil {
			return err
		}
		if len(all) != len(names) {
			return fmt.Errorf("%+v wait", all)
		}
		for _, name := range names {
			if u := all[name]; u.Wait != api.WaitDeferred || u.Reason != outside() {
				return fmt.Errorf("%s waits as %+v", name, u)
			}
		}
		return nil
	})
	return all
}

// image waits until the pod runs with an image, and returns its container.
func (a *agent) image(t *testing.T, name, image string) string {
	t.Helper()
	var id string
	eventually(t, "pod "+name+" runs "+image, func(ctx context.Context) error {
		all, err := a.pods(ctx)
		if err != nil {
			return err
		}
		p := all[name+"-"+a.name]
		if !ready(p) || p.Spec.Containers[0].Image != image {
			return fmt.Errorf("%s %+v", p.Status.Phase, p.Spec.Containers)
		}
		id = container(p)
		return nil
	})
	return id
}

func TestAnUpdateOutsideItsWindowWaitsAlsoOverARestart(t *testing.T) {
	t.Parallel()
	const brief = 20 * time.Second
	n := startNode(t)
	a := newAgent(t, n, "later")
	a.withPolicies(t)
	window := example(t, "change-window")
	a.put(t, a.Path("policies"), "window", "filter", window, closed("!brief", "12h"))
	a.put(t, a.Path("policies"), "brief", "filter", window, closed("brief", brief.String()))
	a.start(t)
	a.inForce(t, "window", "brief")
	names := []string{"kept", "freed", "brief"}
	labels := map[string]string{"brief": "brief: \"yes\""}
	before := map[string]string{}
	for _, name := range names {
		a.manifest(t, name+".yaml", imagePod(name, webOne, labels[name]))
	}
	for name, p := range a.running(t, names...) {
		before[name] = container(p)
	}
	same := func(when string, names ...string) {
		t.Helper()
		for _, name := range names {
			if id := a.image(t, name, webOne); id != before[name] {
				t.Errorf("%s: %s runs in %s, before in %s", when, name, id, before[name])
			}
		}
	}

	for _, name := range names[:2] {
		a.manifest(t, name+".yaml", imagePod(name, webTwo, ""))
	}
	first := a.suppressed(t, "kept", "freed")
	for name, u := range first {
		if u.Until.Sub(u.Since) != 12*time.Hour || u.Op != api.UpdateOp || u.Replaces == "" || u.Policy != "window" {
			t.Errorf("%s waits as %+v", name, u)
		}
	}
	a.says(t, "get updates", "UNTIL", "kept-later", "freed-later", "Deferred", "window", outside(), "in 11h")
	a.says(t, "get pods", "kept-later", "Running", "kept.yaml is suppressed until ", "the old one runs on", `policy "window"`)
	same("suppressed", "kept", "freed")

	a.kill()
	a.start(t)
	for name, u := range a.suppressed(t, "kept", "freed") {
		if was := first[name]; !u.Since.Equal(was.Since) || !u.Until.Equal(was.Until) {
			t.Errorf("%s waits since %s until %s, before the restart since %s until %s", name, u.Since, u.Until, was.Since, was.Until)
		}
	}
	same("after a restart", "kept", "freed", "brief")

	// Newer content does not restart the time limit, and the newest content is what passes.
	a.manifest(t, "freed.yaml", imagePod("freed", webTwo, "newest: \"yes\""))
	eventually(t, "the newest version waits", func(ctx context.Context) error {
		all, err := a.waiting(ctx)
		if u := all["freed"]; err == nil && (u.UID == first["freed"].UID || !u.Since.Equal(first["freed"].Since)) {
			err = fmt.Errorf("it is %+v", u)
		}
		return err
	})
	out, err := a.wardlet("release", "default/freed-later")
	if err == nil {
		err = contains(out, "default/freed-later: update in ", "freed.yaml of source static released; policy window held it back")
	}
	if err != nil {
		t.Errorf("release: %v", err)
	}
	if a.image(t, "freed", webTwo); a.running(t, "freed")["freed"].Labels["newest"] != "yes" {
		t.Error("what was released is not the newest version")
	}
	if out, err := a.wardlet("release", "default/freed-later"); err == nil || !strings.Contains(err.Error(), "no update of default/freed-later is held back") {
		t.Errorf("a second release: %q, %v", out, err)
	}
	a.suppressed(t, "kept")

	// An update passes when it was suppressed for as long as the limit allows.
	a.manifest(t, "brief.yaml", imagePod("brief", webTwo, labels["brief"]))
	u := a.suppressed(t, "kept", "brief")["brief"]
	if u.Until.Sub(u.Since) != brief {
		t.Errorf("the brief one waits from %s to %s, want %s", u.Since, u.Until, brief)
	}
	steadily(t, time.Until(u.Until)-time.Second, "nothing of it runs before that", func(ctx context.Context) error {
		all, err := a.pods(ctx)
		if p := all["brief-later"]; err == nil && (p.Spec.Containers[0].Image != webOne || container(p) != before["brief"]) {
			err = errors.New("it is the new one")
		}
		return err
	})
	a.image(t, "brief", webTwo)

	// It also passes when the policy that suppressed it is gone.
	same("to the end", "kept")
	for _, file := range []string{"window.toml", "window.wasm"} {
		if err := os.Remove(a.Path("policies", file)); err != nil {
			t.Fatal(err)
		}
	}
	a.image(t, "kept", webTwo)
	a.suppressed(t)
	a.remove(t, "kept.yaml", "freed.yaml", "brief.yaml")
	a.nothingLeft(t, n)
}

// alive returns the number of running containers, by the names of their pods.
func (n node) alive(ctx context.Context) (map[string]int, error) {
	list, err := n.CRI.ListContainers(ctx, &criapi.ListContainersRequest{})
	if err != nil {
		return nil, err
	}
	counts := map[string]int{}
	for _, c := range list.GetContainers() {
		if c.GetState() == criapi.ContainerState_CONTAINER_RUNNING {
			counts[c.GetLabels()["io.kubernetes.pod.name"]]++
		}
	}
	return counts, nil
}

func TestUnderAFilterAndAMergePolicyThatNeverAgreeEveryPodRunsOnce(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	f := startFleet(t)
	a := newAgent(t, n, "restless")
	a.withPolicies(t)
	a.withFleet(t, f, "")
	a.put(t, a.Path("policies"), "never", "filter", wasmtest.Filtering(2, 1000, "Never", "not yet"), "[limits]\nmax_suppress = \"4s\"\n")
	seed := uint64(time.Now().UnixNano())
	t.Log("seed of the orders of the kinds:", seed)
	random := rand.New(rand.NewPCG(seed, 0)) // reproducible, not secret
	// rule makes the kinds of sources win in a random order, and returns the first.
	rule := func() (winner string) {
		t.Helper()
		kinds := []string{"file", "http"}
		random.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
		t.Log("from now on first wins", kinds[0])
		a.put(t, a.Path("policies"), "rule", "merge", example(t, "source-precedence"), order(kinds...))
		return kinds[0]
	}
	winner := rule()
	names := []string{"one", "two", "three"}
	// sets makes both sources claim every pod, in a new version.
	sets := func(version string) {
		t.Helper()
		var fleet []string
		for _, name := range names {
			fleet = append(fleet, imagePod(name, webOne, "from: fleet, version: "+version))
			a.manifest(t, name+".yaml", imagePod(name, webOne, "from: static, version: "+version))
		}
		f.serves(fleet...)
	}
	once := func(ctx context.Context) error {
		alive, err := n.alive(ctx)
		if err != nil {
			return err
		}
		for name, count := range alive {
			if count > 1 {
				return fmt.Errorf("%d containers of %s run", count, name)
			}
		}
		return nil
	}
	sets("a")
	a.start(t)
	a.inForce(t, "never", "rule")
	const changes = 5
	for i := range changes {
		sets(string(rune('b' + i)))
		winner = rule()
		if i == 1 {
			a.kill()
			a.start(t)
		}
		steadily(t, 3*time.Second, "every pod runs once", once)
	}
	from := map[string]string{"file": "static", "http": "fleet"}[winner]
	newest := string(rune('a' + changes))
	eventually(t, "the newest versions of the winner run, and nothing else", func(ctx context.Context) error {
		if err := once(ctx); err != nil {
			t.Fatal(err)
		}
		pods, err := a.pods(ctx)
		if err != nil {
			return err
		}
		for _, name := range names {
			if p := pods[name+"-"+a.name]; len(pods) != len(names) || !ready(p) || p.Labels["from"] != from || p.Labels["version"] != newest {
				return fmt.Errorf("%d pods; %s has labels %v and is %s", len(pods), name, p.Labels, p.Status.Phase)
			}
		}
		return nil
	})
	if all, err := a.waiting(t.Context()); err != nil || len(all) > 0 {
		t.Errorf("%v still wait: %v", slices.Collect(maps.Keys(all)), err)
	}
	a.stop(t)
}
