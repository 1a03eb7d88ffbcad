//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/test/wasmtest"
)

// withTenants adds tenants to the agent, each with the namespace team-NAME and an
// empty directory of policies, tenant-NAME. It must be called before start.
func (a *agent) withTenants(t *testing.T, names ...string) {
	t.Helper()
	config := []string{a.read(t, "agent.toml")}
	for _, name := range names {
		dir := a.Path("tenant-" + name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		config = append(config, fmt.Sprintf("[[tenant]]\nname = %q\nnamespaces = [\"team-%s\"]\npolicy_dir = %q\n", name, name, dir))
	}
	a.write(t, a.ConfigFile(), strings.Join(config, ""))
}

// example returns a plugin of plugins/examples.
func example(t *testing.T, name string) []byte {
	t.Helper()
	module, err := os.ReadFile(filepath.Join(builtPolicies, name+".wasm"))
	if err != nil {
		t.Fatalf(`%v; "make plugins" builds it`, err)
	}
	return module
}

// put puts a policy with one hook into a directory; rest follows the
// keys that every policy has.
func (a *agent) put(t *testing.T, dir, name, hook string, module []byte, rest string) {
	t.Helper()
	a.compiles(t, module)
	a.move(t, filepath.Join(dir, name+".wasm"), string(module))
	a.move(t, filepath.Join(dir, name+".toml"), string(document(name, hook, module, rest)))
}

// move writes a file with this text by rename.
func (a *agent) move(t *testing.T, path, text string) {
	t.Helper()
	temp := a.Path("moved.tmp")
	a.write(t, temp, text)
	if err := os.Rename(temp, path); err != nil {
		t.Fatal(err)
	}
}

// within returns the manifest with its pod in a namespace.
func within(namespace, manifest string) string {
	return strings.Replace(manifest, "metadata:\n", "metadata:\n  namespace: "+namespace+"\n", 1)
}

// inForce waits until these policies are in force, of whichever owner. Others may be in force, too.
func (a *agent) inForce(t *testing.T, names ...string) {
	t.Helper()
	eventually(t, "in force are "+strings.Join(names, ", "), func(ctx context.Context) error {
		var sets []api.PolicySet
		if err := a.API.Get(ctx, "/v1/policies", &sets); err != nil {
			return err
		}
		var found []string
		for i := range sets {
			for j := range sets[i].Policies {
				found = append(found, sets[i].Policies[j].Name)
			}
		}
		for _, name := range names {
			if !slices.Contains(found, name) {
				return fmt.Errorf("only %q are", found)
			}
		}
		return nil
	})
}

// owners waits until each of these policies is shown with its owner.
func (a *agent) owners(t *testing.T, want map[string]string) {
	t.Helper()
	eventually(t, "owners of policies", func(context.Context) error {
		out, err := a.wardlet("get", "policies")
		if err != nil {
			return err
		}
		got := map[string]string{}
		for line := range strings.Lines(out) {
			if words := strings.Fields(line); len(words) > 2 {
				got[words[0]] = words[1]
			}
		}
		for name, owner := range want {
			if got["NAME"] != "OWNER" || got[name] != owner {
				return fmt.Errorf("policy %s is not shown as that of %s:\n%s", name, owner, out)
			}
		}
		return nil
	})
}

func TestATenantsPoliciesJudgeItsOwnPodsAndABrokenSetDelaysNobodyElse(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "shared")
	a.withPolicies(t)
	a.withTenants(t, "a", "b")
	never := func(code string) []byte { return wasmtest.Answering(1, code, "not here") }
	a.put(t, a.Path("policies"), "ours", "admit", never("NotOurs"), "[match]\nlabel_selector = \"ours = never\"\n")
	a.put(t, a.Path("tenant-a"), "images", "admit", example(t, "allowed-images"), allow(webOne))
	broken := filepath.Join(a.Path("tenant-b"), "broken.toml")
	a.move(t, broken, "nonsense = true\n")
	a.start(t)
	a.inForce(t, "ours", "images")
	a.manifest(t, "good.yaml", within("team-a", imagePod("good", webOne, "bad: \"yes\"")))
	a.manifest(t, "evil.yaml", within("team-a", imagePod("evil", webTwo, "")))
	a.manifest(t, "free.yaml", imagePod("free", webTwo, "bad: \"yes\""))
	a.manifest(t, "theirs.yaml", within("team-b", imagePod("theirs", webTwo, "")))
	a.manifest(t, "stray.yaml", within("team-b", imagePod("stray", webOne, "ours: never")))

	// Tenant b's set is not ready. Only b's pods are held for that.
	before := a.running(t, "good", "free")
	a.pod(t, "evil", denied("ImageNotAllowed", `policy "images" of tenant "a"`, webTwo))
	a.pod(t, "theirs", conditioned("wardlet.dev/Admitted", v1.PodPending, "PoliciesNotReady"))
	a.owners(t, map[string]string{"ours": "operator", "images": "a"})
	a.says(t, "get policies", "b: no set was loaded yet", "broken.toml: api: missing")

	a.put(t, a.Path("tenant-b"), "quiet", "admit", never("NotTheirs"), "[match]\nlabel_selector = \"bad = yes\"\n")
	if err := os.Remove(broken); err != nil {
		t.Fatal(err)
	}
	a.running(t, "theirs")
	a.pod(t, "stray", denied("NotOurs", `policy "ours"`))
	a.manifest(t, "loud.yaml", within("team-b", imagePod("loud", webOne, "bad: \"yes\"")))
	a.pod(t, "loud", denied("NotTheirs", `policy "quiet" of tenant "b"`))
	a.owners(t, map[string]string{"ours": "operator", "images": "a", "quiet": "b"})

	// The last good set stays in force for b, while other owners change theirs.
	a.move(t, broken, "nonsense = true\n")
	a.says(t, "get policies", "b: what the directory holds now is refused", "broken.toml")
	a.put(t, a.Path("tenant-a"), "images", "admit", example(t, "allowed-images"), allow(webOne, webTwo))
	a.running(t, "evil")
	a.manifest(t, "later.yaml", within("team-b", imagePod("later", webOne, "bad: \"yes\"")))
	a.pod(t, "later", denied("NotTheirs", `policy "quiet" of tenant "b"`))
	for name, p := range a.running(t, "good", "free") {
		if was := before[name]; container(p) != container(was) {
			t.Errorf("%s was restarted: %s, then %s", name, container(was), container(p))
		}
	}
	a.remove(t, "good.yaml", "evil.yaml", "free.yaml", "theirs.yaml", "stray.yaml", "loud.yaml", "later.yaml")
	a.nothingLeft(t, n)
}
