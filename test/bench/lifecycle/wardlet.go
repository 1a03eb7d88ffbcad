package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// newWardlet makes an agent as it is for users, with the policies if wanted.
func (b *bench) newWardlet(side string, policies bool) (*agent, error) {
	a, err := newAgent(side)
	if err != nil {
		return nil, err
	}
	program, config := b.built("wardlet"), a.path("agent.toml")
	a.command = func() *exec.Cmd { return exec.Command(program, "run", "--config", config) }
	a.traces = []string{a.path("root", "pods"), a.path("log", "pods"), a.path("log", "containers")}
	text := wardletConfig(a, b.endpoint())
	a.ready = func(ctx context.Context) error { return wardletReady(ctx, program, config) }
	if policies {
		text += fmt.Sprintf("[policy]\ndir = %q\n", a.path("policies"))
		a.ready = func(ctx context.Context) error { return policiesInForce(ctx, program, config) }
		if err := writePolicies(b.built("policies"), a.path("policies")); err != nil {
			return a, err
		}
	}
	return a, a.write("agent.toml", text)
}

func wardletConfig(a *agent, endpoint string) string {
	return fmt.Sprintf(`node_name = %q
[paths]
state_root = %q
pod_root = %q
log_root = %q
socket = %q
cgroup_root = %q
[runtime]
endpoint = %q
[[source]]
name = "static"
kind = "file"
path = %q
`, nodeName, a.path("state"), a.path("root"), a.path("log"), a.path("run", "w.sock"), "/"+a.cgroup, endpoint, a.dir+"/manifests")
}

// wardletReady asks the agent for its pods.
func wardletReady(ctx context.Context, program, config string) error {
	_, err := ask(ctx, program, "get", "pods", "--config", config)
	return err
}

func ask(ctx context.Context, program string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, program, args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("wardlet %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// guards are the policies an agent has where it has some: a Go guest, and two
// that are written in C, by one module.
var guards = []struct{ name, from string }{
	{"allowed-images", "allowed-images"},
	{"allowed-images-c", "allowed-images-c"},
	{"other-images-c", "allowed-images-c"},
}

// writePolicies copies example policies with their modules, and has all of
// them asked.
func writePolicies(built, dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	for _, g := range guards {
		document, err := os.ReadFile(filepath.Join(built, g.from+".toml"))
		if err != nil {
			return fmt.Errorf("%w; run make plugins", err)
		}
		module, err := os.ReadFile(filepath.Join(built, g.from+".wasm"))
		if err != nil {
			return fmt.Errorf("%w; run make plugins", err)
		}
		if err := os.WriteFile(filepath.Join(dir, g.from+".wasm"), module, 0o600); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, g.name+".toml"), guard(string(document), g.name), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// guard is a document under a name, in force, without its tests, whose pods are
// elsewhere.
func guard(document, name string) []byte {
	var out strings.Builder
	for line := range strings.Lines(document) {
		switch key, _, _ := strings.Cut(line, " "); key {
		case "[[test]]\n":
			return []byte(out.String())
		case "name":
			fmt.Fprintf(&out, "name = %q\n", name)
		case "mode":
		default:
			out.WriteString(line)
		}
	}
	return []byte(out.String())
}

// policiesInForce is nil once the agent has all policies in force.
func policiesInForce(ctx context.Context, program, config string) error {
	out, err := ask(ctx, program, "get", "policies", "--config", config)
	if err != nil {
		return err
	}
	for _, g := range guards {
		if !strings.Contains(out, g.name) {
			return fmt.Errorf("policy %s is not there:\n%s", g.name, out)
		}
	}
	if !strings.Contains(out, " in force, generation ") {
		return fmt.Errorf("policies are not in force:\n%s", out)
	}
	return nil
}
