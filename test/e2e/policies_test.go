//go:build e2e

package e2e

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
)

// builtPolicies is where `make plugins` puts what it builds.
const builtPolicies = "../../build/policies"

// withPolicies adds an empty directory of policies to the agent. It
// must be called before start.
func (a *agent) withPolicies(t *testing.T) {
	t.Helper()
	if err := os.Mkdir(a.Path("policies"), 0o700); err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile(a.ConfigFile())
	if err != nil {
		t.Fatal(err)
	}
	a.write(t, a.ConfigFile(), string(config)+fmt.Sprintf("[policy]\ndir = %q\n", a.Path("policies")))
}

// policy puts a policy with a plugin of plugins/examples into the directory;
// rest follows the keys that every policy has.
func (a *agent) policy(t *testing.T, name, rest string) {
	t.Helper()
	module, err := os.ReadFile(filepath.Join(builtPolicies, name+".wasm"))
	if err != nil {
		t.Fatalf(`%v; "make plugins" builds it`, err)
	}
	a.module(t, name, module, rest)
}

// module puts a policy with the given plugin into the directory.
func (a *agent) module(t *testing.T, name string, module []byte, rest string) {
	t.Helper()
	a.compiles(t, module)
	a.place(t, name+".wasm", module)
	a.place(t, name+".toml", document(name, "admit", module, rest))
}

// document returns the document of a policy with one hook; rest follows the keys that
// every policy has.
func document(name, hook string, module []byte, rest string) []byte {
	return fmt.Appendf(nil, `api = "wardlet.dev/v1"
name = %q
module = %q
sha256 = "%x"
hooks = [%q]
%s`, name, name+".wasm", sha256.Sum256(module), hook, rest)
}

// place moves a file into the policy directory.
func (a *agent) place(t *testing.T, name string, content []byte) {
	t.Helper()
	temp := a.Path("policy.tmp")
	a.write(t, temp, string(content))
	if err := os.Rename(temp, a.Path("policies", name)); err != nil {
		t.Fatal(err)
	}
}

// allow returns settings of allowed-images.
func allow(images ...string) string { return fmt.Sprintf("[settings]\nallow = [%s]\n", quoted(images)) }

func quoted(words []string) string {
	var list []string
	for _, word := range words {
		list = append(list, fmt.Sprintf("%q", word))
	}
	return strings.Join(list, ", ")
}

const (
	webOne = "registry.example/web:1"
	webTwo = "registry.example/web:2"
)

// imagePod returns a pod that only sleeps, with this image.
func imagePod(name, image, labels string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata:
  name: %s
  labels: {%s}
spec:
  hostNetwork: true
  terminationGracePeriodSeconds: 2
  containers:
  - name: main
    image: %s
    args: [sleep]
`, name, labels, image)
}

// pod waits until check accepts the named pod (without the node's name).
func (a *agent) pod(t *testing.T, name string, check func(*v1.Pod) error) v1.Pod {
	t.Helper()
	var found v1.Pod
	eventually(t, "pod "+name, func(ctx context.Context) error {
		all, err := a.pods(ctx)
		if err != nil {
			return err
		}
		p, ok := all[name+"-"+a.name]
		if !ok {
			return fmt.Errorf("no pod %s among %d", name, len(all))
		}
		found = p
		return check(&p)
	})
	return found
}

// denied checks that policy denied a pod, with these words in its message.
func denied(reason string, words ...string) func(*v1.Pod) error {
	return func(p *v1.Pod) error {
		if p.Status.Phase != v1.PodFailed || p.Status.Reason != reason {
			return fmt.Errorf("phase %s, reason %q, message %q; want Failed with %s", p.Status.Phase, p.Status.Reason, p.Status.Message, reason)
		}
		return contains(p.Status.Message, words...)
	}
}

// conditioned checks that a pod has a False condition set by policy, with these words in
// its message.
func conditioned(kind v1.PodConditionType, phase v1.PodPhase, reason string, words ...string) func(*v1.Pod) error {
	return func(p *v1.Pod) error {
		for _, c := range p.Status.Conditions {
			if c.Type == kind && c.Status == v1.ConditionFalse && c.Reason == reason && p.Status.Phase == phase {
				return contains(c.Message, words...)
			}
		}
		return fmt.Errorf("phase %s, conditions %+v; want %s with %s=False, %s", p.Status.Phase, p.Status.Conditions, phase, kind, reason)
	}
}

// unconditioned checks that a pod lacks the condition.
func unconditioned(kind v1.PodConditionType) func(*v1.Pod) error {
	return func(p *v1.Pod) error {
		for _, c := range p.Status.Conditions {
			if c.Type == kind {
				return fmt.Errorf("condition %+v", c)
			}
		}
		return nil
	}
}

func contains(text string, words ...string) error {
	for _, word := range words {
		if !strings.Contains(text, word) {
			return fmt.Errorf("%q does not say %q", text, word)
		}
	}
	return nil
}

// says waits until the output of a subcommand has these words.
func (a *agent) says(t *testing.T, command string, words ...string) {
	t.Helper()
	eventually(t, "wardlet "+command, func(context.Context) error {
		out, err := a.wardlet(strings.Fields(command)...)
		if err != nil {
			return err
		}
		return contains(out, words...)
	})
}

// container returns the ID of the pod's only container.
func container(p v1.Pod) string { return p.Status.ContainerStatuses[0].ContainerID }
