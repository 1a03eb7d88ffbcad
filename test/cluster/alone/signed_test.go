//go:build e2e

package alone

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"aead.dev/minisign"

	"github.com/wardlet/wardlet/test/conformance/instance"
	"github.com/wardlet/wardlet/test/wasmtest"
)

// signer has a key pair in files, whose private key has the password "password".
type signer struct{ public, file string }

func newSigner(t *testing.T) signer {
	t.Helper()
	public, private, err := minisign.GenerateKey(rand.Reader)
	must(t, err)
	text, err := minisign.EncryptKey("password", private)
	must(t, err)
	file := filepath.Join(t.TempDir(), "key")
	must(t, errors.Join(os.WriteFile(file, text, 0o600), os.WriteFile(file+".password", []byte("password\n"), 0o600)))
	_, line, _ := strings.Cut(public.String(), "\n")
	if line == "" {
		line = public.String()
	}
	return signer{strings.TrimSpace(line), file}
}

// publish writes a set of one policy into the ConfigMap, which denies images of a registry.
func (n *node) publish(by signer, revision int, registry string) {
	n.Helper()
	dir := n.TempDir()
	// Without the custom section, the module would be valid UTF-8, and kubectl would take it for text.
	module := append(wasmtest.Answering(1, "ForbiddenImage", "images of "+registry+" are not allowed here"), 0, 3, 1, 'x', 0xff)
	document := fmt.Sprintf("api = \"wardlet.dev/v1\"\nname = \"images\"\nmodule = \"images.wasm\"\nsha256 = \"%x\"\nhooks = [\"admit\"]\n"+
		"[match]\nconditions = [\"object.spec.containers.exists(c, c.image.startsWith('%s/'))\"]\n", sha256.Sum256(module), registry)
	must(n.T, errors.Join(
		os.WriteFile(filepath.Join(dir, "images.wasm"), module, 0o600),
		os.WriteFile(filepath.Join(dir, "images.toml"), []byte(document), 0o600),
	))
	cmd := exec.CommandContext(n.Context(), filepath.Join(filepath.Dir(filepath.Dir(n.Program("kubectl"))), "wardlet"), "policy", "sign", "--key", by.file, "--password-file", by.file+".password", "--revision", strconv.Itoa(revision), dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		n.Fatalf("%v: %s", err, out)
	}
	object := n.kubectl("-n", "kube-system", "create", "configmap", "wardlet-policies", "--from-file="+dir, "--dry-run=client", "-o", "yaml")
	_, err := n.Apply(n.Context(), object, "-n", "kube-system", "apply", "--server-side", "--force-conflicts", "-f", "-")
	must(n.T, err)
}

// refused returns nil if the agent refuses a pod with an image of a registry.
func (n *node) refused(name, registry string) error {
	n.apply("default", fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {name: %s}\nspec:\n  nodeName: %s\n  terminationGracePeriodSeconds: 0\n  containers: [{name: main, image: %s/app:1}]\n", name, n.Env["NODE_NAME"], registry))
	defer n.kubectl("delete", "pod", name, "--wait=false")
	for range 100 {
		pods, err := n.pods("default")
		if err != nil {
			return err
		}
		if p := pods[name]; p != nil && p.Status.Reason != "" {
			if strings.Contains(p.Status.Message, "images of "+registry+" are not allowed") {
				return nil
			}
			return fmt.Errorf("%s: %s", p.Status.Reason, p.Status.Message)
		}
		time.Sleep(100 * time.Millisecond)
	}
	return errors.New("it is not refused")
}

// TestClusterSet_keys signs the policies of the cluster with a trusted key, with another one, and
// takes the trust away. A set that is not trusted changes nothing, and ends no pod.
func TestClusterSet_keys(t *testing.T) {
	n := startNode(t)
	must(t, n.StopNode(t.Context()))
	good, other := newSigner(t), newSigner(t)
	trust := func(key signer) {
		n.Extra = []string{"CONFIG_EXTRA=[policy]\ncluster_set = \"kube-system/wardlet-policies\"\ntrusted_keys = [\"" + key.public + "\"]"}
		must(t, n.StartNode(t.Context(), instance.Wardlet))
	}
	shows := func(what string) {
		t.Helper()
		n.eventually("wardlet get policies shows "+what, time.Minute, func() error {
			out, err := n.Wardlet(t.Context(), "get", "policies")
			if err == nil && !strings.Contains(out, what) {
				err = errors.New(out)
			}
			return err
		})
		out, _ := n.Wardlet(t.Context(), "get", "policies")
		t.Logf("wardlet get policies:\n%s", out)
	}
	n.kubectl("apply", "-f", "../../../policies/cluster/rbac.yaml")
	n.publish(good, 1, "first.example")
	trust(good)
	shows("images")
	must(t, n.refused("one", "first.example"))
	n.apply("default", fill(late, "NODE", n.Env["NODE_NAME"]))
	n.eventually("a pod runs", time.Minute, n.agree)
	before, err := n.pods("default")
	must(t, err)

	n.publish(other, 2, "second.example")
	shows("is not trusted")
	must(t, n.refused("two", "first.example"))
	must(t, n.RestartNode(t.Context()))
	n.eventually("after a restart of the agent", time.Minute, func() error { return n.refused("two-again", "first.example") })
	n.publish(good, 2, "third.example")
	n.eventually("the next set with the trusted key", time.Minute, func() error { return n.refused("three", "third.example") })

	must(t, n.StopNode(t.Context()))
	trust(other)
	shows("is not trusted")
	after, err := n.pods("default")
	must(t, err)
	if a, b := running(before["late"]), running(after["late"]); a == "" || a != b {
		t.Errorf("the pod had container %s, has %s", a, b)
	}
}
