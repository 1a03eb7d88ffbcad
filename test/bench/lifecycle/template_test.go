package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// learnt returns a template as containerd would report it.
func learnt(t *testing.T) *template {
	t.Helper()
	sandbox, err := json.Marshal(&criapi.PodSandboxConfig{
		Metadata:     &criapi.PodSandboxMetadata{Name: templatePod + "-localhost", Uid: templatePod + "-uid", Namespace: "default"},
		LogDirectory: "/tmp/wardlet-bench-1/log/pods/default_" + templatePod + "-localhost_" + templatePod + "-uid",
		Linux:        &criapi.LinuxPodSandboxConfig{CgroupParent: "/wardlet-bench-1/besteffort/pod" + templatePod + "-uid"},
	})
	if err != nil {
		t.Fatal(err)
	}
	container, err := json.Marshal(&criapi.ContainerConfig{
		Metadata: &criapi.ContainerMetadata{Name: "main"}, LogPath: "main/0.log", Args: []string{"sleep"},
		Mounts: []*criapi.Mount{{HostPath: "/tmp/wardlet-bench-1/root/pods/" + templatePod + "-uid/main/0", ContainerPath: "/dev/termination-log"}},
		Linux: &criapi.LinuxContainerConfig{SecurityContext: &criapi.LinuxContainerSecurityContext{
			NamespaceOptions: &criapi.NamespaceOption{Network: criapi.NamespaceMode_NODE},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &template{string(sandbox), string(container), "/tmp/wardlet-bench-1", "wardlet-bench-1"}
}

func TestARequestIsTheAgentsForAnotherPod(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r, err := learnt(t).stamp("burst-7", dir, "bench-2", 3)
	if err != nil {
		t.Fatal(err)
	}
	for what, got := range map[string]string{
		"burst-7-localhost": r.sandbox.GetMetadata().GetName(),
		"burst-7-uid":       r.sandbox.GetMetadata().GetUid(),
		dir + "/log/pods/default_burst-7-localhost_burst-7-uid": r.sandbox.GetLogDirectory(),
		"/bench-2/besteffort/podburst-7-uid":                    r.sandbox.GetLinux().GetCgroupParent(),
		dir + "/root/pods/burst-7-uid/main/0":                   r.container.GetMounts()[0].GetHostPath(),
		"main/3.log":                                            r.container.GetLogPath(),
		"sleep":                                                 strings.Join(r.container.GetArgs(), ","),
		"NODE":                                                  r.container.GetLinux().GetSecurityContext().GetNamespaceOptions().GetNetwork().String(),
	} {
		if got != what {
			t.Errorf("got %q, want %q", got, what)
		}
	}
	if got := r.container.GetMetadata().GetAttempt(); got != 3 {
		t.Errorf("attempt %d", got)
	}
	if err := r.prepare(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{r.container.GetMounts()[0].GetHostPath(), filepath.Join(r.sandbox.GetLogDirectory(), "main")} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}

func TestWhatTheRuntimeTellsOfARequestMustBeOne(t *testing.T) {
	t.Parallel()
	for name, info := range map[string]map[string]string{
		"nothing":        nil,
		"no JSON":        {"info": "?"},
		"no request":     {"info": `{"pid": 7}`},
		"another's form": {"info": `{"config": ""`},
	} {
		if a, err := parseAsked(info); err == nil {
			t.Errorf("%s: %+v", name, a)
		}
	}
	a, err := parseAsked(map[string]string{"info": `{"sandboxID":"s","pid":7,"config":{"args":["sleep"]}}`})
	if err != nil || a.Sandbox != "s" || string(a.Config) != `{"args":["sleep"]}` {
		t.Errorf("%+v, %v", a, err)
	}
	broken := learnt(t)
	broken.sandbox = `{}`
	if _, err := broken.stamp("x", "/dir", "cgroup", 0); err == nil {
		t.Error("a request for no pod is none")
	}
}

func TestTheProcessOfAContainer(t *testing.T) {
	t.Parallel()
	if pid, err := parsePID(map[string]string{"info": `{"pid":4711}`}); err != nil || pid != 4711 {
		t.Errorf("%d, %v", pid, err)
	}
	for _, info := range []string{"", `{"pid":0}`, `{"pid":1}`} {
		if pid, err := parsePID(map[string]string{"info": info}); err == nil {
			t.Errorf("%s: %d", info, pid)
		}
	}
}
