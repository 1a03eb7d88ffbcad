//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/test/wasmtest"
)

// soon is how long it may take until nothing is left of a pod with a grace
// period of 2 s.
const soon = 15 * time.Second

// remembered returns the files of the agent's state that hold a text. Policies and decision
// records are left out, because they outlive the pods.
func (a *agent) remembered(text string) (files []string, err error) {
	err = filepath.WalkDir(a.Path("state"), func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{"policies", "compiled", "decisions"}, entry.Name()):
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		content, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if strings.Contains(string(content), text) {
			files = append(files, path)
		}
		return err
	})
	return files, err
}

// forgotten returns an error if something of a pod is left: in what the agent shows, in its
// directories or in its state.
func (a *agent) forgotten(ctx context.Context, name string, uids map[string]bool) error {
	all, err := a.pods(ctx)
	if err != nil {
		return err
	}
	if p, known := all[name+"-"+a.name]; known {
		return fmt.Errorf("it is %s", p.Status.Phase)
	}
	updates, err := a.waiting(ctx)
	if err != nil {
		return err
	}
	if u, waits := updates[name]; waits {
		return fmt.Errorf("%+v waits", u)
	}
	for uid := range uids {
		for _, left := range []string{
			a.Path("root", "pods", uid), a.Path("log", "pods", "default_"+name+"-"+a.name+"_"+uid),
		} {
			if _, err := os.Stat(left); err == nil {
				return fmt.Errorf("left: %s", left)
			} else if !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		switch files, err := a.remembered(uid); {
		case err != nil:
			return err
		case len(files) > 0:
			return fmt.Errorf("%s is remembered in %q", uid, files)
		}
	}
	return nil
}

func TestARemovedPodThatWasNotLetPassIsGoneAtOnce(t *testing.T) {
	n := startNode(t)
	a := newAgent(t, n, "ends")
	a.withPolicies(t)
	policy := func(name, hook string, module []byte, match string) {
		t.Helper()
		a.put(t, a.Path("policies"), name, hook, module, "[match]\n"+match)
	}
	policy("holds", "admit", wasmtest.Answering(holds, "Later", "not yet"), "label_selector = \"do = hold\"\n")
	policy("denies", "admit", wasmtest.Answering(denies, "Never", "not here"), "label_selector = \"do = deny\"\n")
	policy("defers", "filter", wasmtest.Filtering(2, 3_600_000, "NotNow", "not now"), "label_selector = \"do = defer\"\n")
	a.start(t)

	// By pod name: the version that runs, then the version that would replace it.
	versions := map[string][2]string{
		"stays":      {"do: nothing", "do: nothing"},
		"held":       {"", "do: hold"},
		"denied":     {"", "do: deny"},
		"suppressed": {"", "do: defer"},
		"heldnext":   {"do: nothing", "do: hold"},
		"deniednext": {"do: nothing", "do: deny"},
		"update":     {"do: nothing", "do: defer"},
	}
	var running []string
	for name, labels := range versions {
		if labels[0] != "" {
			running = append(running, name)
			a.manifest(t, name+".yaml", imagePod(name, webOne, labels[0]))
		}
	}
	before := a.running(t, running...)
	for name, labels := range versions {
		a.manifest(t, name+".yaml", imagePod(name, webOne, labels[1]))
	}
	a.pod(t, "held", conditioned("wardlet.dev/Admitted", v1.PodPending, "Later"))
	a.pod(t, "denied", denied("Never"))
	want := map[string]string{
		"suppressed": api.WaitDeferred, "heldnext": api.WaitHeld, "deniednext": api.WaitDenied, "update": api.WaitDeferred,
	}
	uids := map[string]map[string]bool{"held": {}, "denied": {}}
	eventually(t, "the new versions wait", func(ctx context.Context) error {
		all, err := a.waiting(ctx)
		if err != nil {
			return err
		}
		for name, wait := range want {
			u := all[name]
			if u.Wait != wait {
				return fmt.Errorf("%s waits as %+v", name, u)
			}
			uids[name] = map[string]bool{string(u.UID): true}
		}
		return nil
	})
	all, err := a.pods(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name := range uids {
		p := all[name+"-"+a.name]
		uids[name][string(p.UID)] = true
		for uid := range uids[name] {
			if files, err := a.remembered(uid); err != nil || len(files) == 0 {
				t.Errorf("%s: the state does not remember %s, so that this test would not find it: %v", name, uid, err)
			}
		}
	}

	began := time.Now()
	for name := range uids {
		a.remove(t, name+".yaml")
	}
	for name, known := range uids {
		eventually(t, "nothing is left of "+name, func(ctx context.Context) error { return a.forgotten(ctx, name, known) })
	}
	eventually(t, "only what stays is in the runtime", func(ctx context.Context) error {
		if left, err := n.marked(ctx, a.name); err != nil || left != 2 {
			return fmt.Errorf("%d sandboxes and containers: %w", left, err)
		}
		return nil
	})
	if took := time.Since(began); took > soon {
		t.Errorf("it took %s until nothing was left, want at most %s", took, soon)
	} else {
		t.Logf("nothing was left after %s", took)
	}
	if p := a.running(t, "stays")["stays"]; container(p) != container(before["stays"]) {
		t.Errorf("another pod was restarted: %s, then %s", container(before["stays"]), container(p))
	}
	a.remove(t, "stays.yaml")
	a.nothingLeft(t, n)
}
