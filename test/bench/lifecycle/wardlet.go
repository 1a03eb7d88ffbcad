package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/wardlet/wardlet/test/harness"
)

// newWardlet returns an agent as users run it, with the policies if wanted.
func (b *bench) newWardlet(side string, policies bool) (*agent, error) {
	a, err := newAgent(side, b.built("wardlet"))
	if err != nil {
		return nil, err
	}
	a.command = func() *exec.Cmd { return a.Command(context.Background(), "run") }
	a.traces, a.ready = a.PodDirs(), a.answers
	if policies {
		a.ready = a.policiesInForce
		if err := writePolicies(b.built("policies"), a.PolicyDir()); err != nil {
			return a, err
		}
	}
	return a, a.Configure(&harness.Settings{Node: nodeName, Endpoint: b.endpoint(), Policies: policies})
}

// answers asks the agent for its pods.
func (a *agent) answers(ctx context.Context) error {
	_, err := a.Wardlet(ctx, "get", "pods")
	return err
}

// guards are the policies of an agent that has some: a Go guest, and two that are written in C and
// share one module.
var guards = []struct{ name, from string }{
	{"allowed-images", "allowed-images"},
	{"allowed-images-c", "allowed-images-c"},
	{"other-images-c", "allowed-images-c"},
}

// writePolicies copies example policies with their modules, and puts all of them in force.
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

// guard returns a policy document under another name, in force, and without its tests, because the
// tests' pods are elsewhere.
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

// policiesInForce returns nil once the agent has all policies in force.
func (a *agent) policiesInForce(ctx context.Context) error {
	out, err := a.Wardlet(ctx, "get", "policies")
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
