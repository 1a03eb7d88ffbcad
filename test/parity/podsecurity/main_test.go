package podsecurity

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/policy/wasm/compile"
)

// newest is the minor version of the module, one newer than the last version that has a check or a
// fixture of its own.
const newest = 36

// profiles returns all levels in all versions, each with the namespace for which the plugin's
// settings require it.
func profiles() map[string]any {
	all := map[string]any{}
	for _, level := range []string{"privileged", "baseline", "restricted"} {
		all[namespace(level, "latest")] = level + ":latest"
		for minor := range newest + 1 {
			version := fmt.Sprintf("v1.%d", minor)
			all[namespace(level, version)] = level + ":" + version
		}
	}
	return all
}

func namespace(level, version string) string {
	return level + "-" + strings.ReplaceAll(version, ".", "-")
}

// plugin is pod-security as make plugins builds it. All tests share it.
var plugin *wasm.Plugin

func TestMain(m *testing.M) {
	if status, isChild := wasm.Child(); isChild {
		os.Exit(status)
	}
	status, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

func run(m *testing.M) (status int, err error) {
	dir, err := os.MkdirTemp("", "wardlet-podsecurity")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	binary, err := build(dir)
	if err != nil {
		return 0, err
	}
	// The race detector makes compiling slow.
	limits := compile.Limits{CPU: 2 * time.Minute, Wall: 5 * time.Minute}
	engine, err := wasm.NewEngine(filepath.Join(dir, "cache"), slog.New(slog.DiscardHandler), wasm.WithCompiling(limits, compile.Normal))
	if err != nil {
		return 0, err
	}
	defer engine.Close()
	plugin, err = engine.Load(context.Background(), binary, wasm.Options{
		Policy: "pod-security", Hooks: []string{"admit"}, MemoryPages: 64, Fuel: 10_000_000, OutputBytes: 64 << 10, Node: "node-1",
		Settings: map[string]any{"level": "restricted", "namespaces": profiles()},
	})
	if err != nil {
		return 0, err
	}
	defer plugin.Close()
	return m.Run(), nil
}

// build compiles the plugin with the flags and the checks of make plugins.
func build(dir string) ([]byte, error) {
	file := filepath.Join(dir, "pod-security.wasm")
	command := exec.Command("go", "build", "-C", "../../../plugins/examples", "-buildmode=c-shared", "-trimpath", "-buildvcs=false",
		"-ldflags=-s -w -buildid=", "-o", file, "./pod-security")
	command.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	if text, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("the plugin is not built: %w\n%s", err, text)
	}
	return os.ReadFile(file)
}

// ours returns the checks that the plugin reports as violated by a pod, as one text; empty if it
// allows the pod.
func ours(ctx context.Context, p *v1.Pod, level, version string) (string, error) {
	p = p.DeepCopy()
	p.Namespace = namespace(level, version)
	got, err := plugin.Admit(ctx, &abi.Request{Time: time.Unix(0, 0), Question: &api.Question{
		Op: api.Add, Pod: p, Origin: api.Origin{Source: "manifests", Document: "/m/web.yaml#0"},
	}})
	violated := got.Annotations["violated-checks"]
	standard := fmt.Sprintf("%q", level+":"+version)
	switch {
	case err != nil:
		return "", err
	case got.Answer == api.Allow && violated == "" && got.Explanation == "keeps to PodSecurity "+standard:
		return "", nil
	case got.Answer != api.Deny || violated == "" || !strings.HasPrefix(got.Message, "violates PodSecurity "+standard+": "):
		return "", fmt.Errorf("the plugin says %+v", got)
	}
	for check := range strings.SplitSeq(violated, ",") {
		if !strings.Contains(got.Message, check+": ") {
			return "", fmt.Errorf("the message does not name %s: %s", check, got.Message)
		}
	}
	return violated, nil
}
