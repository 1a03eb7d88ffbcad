//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"
)

// TestMounts_recursiveReadOnly: mounts below a volume are read-only, too, and the status says so.
func TestMounts_recursiveReadOnly(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "mounts")
	sub := a.Path("data", "sub")
	if err := os.MkdirAll(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", sub, "tmpfs", 0, "size=64k"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(sub, unix.MNT_DETACH) })
	a.start(t)
	pod := func(name, mount string) string {
		return strings.Replace(webPod(name), "    resources: {}\n", "    resources: {}\n    volumeMounts:\n    - {name: data, mountPath: /data, readOnly: true"+mount+"}\n", 1) +
			"  volumes:\n  - name: data\n    hostPath: {path: " + a.Path("data") + "}\n"
	}
	withSpec := func(text string) string { // volumes belong before the status
		before, volumes, _ := strings.Cut(text, "status: {}\n")
		return before + volumes + "status: {}\n"
	}
	a.manifest(t, "flat.yaml", withSpec(pod("flat", "")))
	a.manifest(t, "deep.yaml", withSpec(pod("deep", ", recursiveReadOnly: Enabled")))
	for name, want := range map[string]struct {
		mode  v1.RecursiveReadOnlyMode
		flags string
	}{"flat": {v1.RecursiveReadOnlyDisabled, "rw,"}, "deep": {v1.RecursiveReadOnlyEnabled, "ro,"}} {
		p := a.running(t, name)[name]
		if got := p.Status.ContainerStatuses[0].VolumeMounts; len(got) != 1 || got[0].RecursiveReadOnly == nil || *got[0].RecursiveReadOnly != want.mode {
			t.Errorf("%s: the status says %+v, want %s", name, got, want.mode)
		}
		eventually(t, "the mounts of "+name, func(ctx context.Context) error {
			mounts, err := get(ctx, "http://"+p.Status.PodIP+":8080/fs?path=/proc/self/mountinfo")
			if err != nil {
				return err
			}
			for line := range strings.Lines(mounts) {
				if fields := strings.Fields(line); len(fields) > 5 && fields[4] == "/data/sub" && strings.HasPrefix(fields[5], want.flags) {
					return nil
				}
			}
			return fmt.Errorf("none is /data/sub with %q:\n%s", want.flags, mounts)
		})
	}
	a.remove(t, "flat.yaml", "deep.yaml")
	a.nothingLeft(t, n)
}
