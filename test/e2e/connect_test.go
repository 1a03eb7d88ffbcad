//go:build e2e

package e2e

import (
	"strings"
	"testing"
)

// A node whose policy denies exec allows it only in the namespace that the policy lists, and
// records who has tried.
func TestConnect_aPolicyForbidsExecOnANode(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "locked")
	a.withPolicies(t)
	a.put(t, a.Path("policies"), "no-exec", "connect", example(t, "no-exec"), "[settings]\nnamespaces = [\"debug\"]\n")
	a.start(t)
	a.inForce(t, "no-exec")
	a.manifest(t, "web.yaml", imagePod("web", webOne, ""))
	a.manifest(t, "debug.yaml", strings.Replace(imagePod("tool", webOne, ""), "metadata:\n", "metadata:\n  namespace: debug\n", 1))
	a.running(t, "web", "tool")

	text, err := a.wardlet("exec", "debug/tool", "--", "/testbox", "echo", "hello")
	if err != nil || text != "hello\n" {
		t.Errorf("in the namespace that is listed: %q, %v", text, err)
	}
	out, err := a.Command(t.Context(), "exec", "default/web", "--", "/testbox", "echo", "secret").CombinedOutput()
	const why = `NoExec: policy "no-exec": this node forbids exec in namespace default`
	if err == nil || !strings.Contains(string(out), why) {
		t.Errorf("in another: %q, %v, want %s", out, err, why)
	}
	for line, want := range map[string][]string{
		"get decisions --hook connect":    {"exec in container main by root (socket): /testbox; policy \"no-exec\"", "debug", "deny"},
		"get events --for pod/web-locked": {"ConnectionDenied", why},
		"explain pod default/web":         {"connect   CONNECT: deny (NoExec)", "requested: exec in container main by root (socket): /testbox"},
	} {
		text, err := a.wardlet(strings.Fields(line)...)
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("%s: no %q in\n%s", line, part, text)
			}
		}
		if strings.Contains(text, "secret") {
			t.Errorf("%s: it shows the arguments:\n%s", line, text)
		}
	}
	if text, err := a.wardlet("policy", "replay"); err != nil {
		t.Errorf("replay: %v\n%s", err, text)
	}
	a.remove(t, "web.yaml")
	a.remove(t, "debug.yaml")
	a.nothingLeft(t, n)
	a.stop(t)
}
