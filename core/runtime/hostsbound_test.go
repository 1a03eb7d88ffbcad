package runtime

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestAHostsFileMadeLongCostsLittle measures what is allocated, so nothing may run
// beside it.
func TestAHostsFileMadeLongCostsLittle(t *testing.T) {
	r := newRig(t)
	run := containerRun(newPod("web"), "", 0)
	file := r.layout.HostsFile(run.Pod.UID)
	if err := r.writeHosts(&run); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, 256<<20); err != nil { // as its container may
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err = r.writeHosts(&run)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 1<<20 {
		t.Errorf("%d bytes allocated", allocated)
	}
	if info, err := os.Stat(file); err != nil || info.Size() != int64(len(want)) {
		t.Fatalf("it was not written anew: %v, %v", info, err)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "content", string(want), string(got))
}

func TestAHostsFileIsWrittenOnlyWhereItDiffers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		before  func(string) string
		written bool
	}{
		"not the same content":  {func(s string) string { return s }, false},
		"of the same length":    {func(s string) string { return "!" + s[1:] }, true},
		"shorter":               {func(s string) string { return s[1:] }, true},
		"longer":                {func(s string) string { return s + "!" }, true},
		"emptied by somebody":   {func(string) string { return "" }, true},
		"with the lines turned": {func(s string) string { return s[len(s)/2:] + s[:len(s)/2] }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			run := containerRun(newPod("web"), "", 0)
			file := r.layout.HostsFile(run.Pod.UID)
			content, err := r.hosts(run.Pod, run.SandboxIPs)
			if err != nil {
				t.Fatal(err)
			}
			write(t, file, tc.before(string(content)))
			old := time.Unix(1_000_000_000, 0)
			if err := os.Chtimes(file, old, old); err != nil {
				t.Fatal(err)
			}
			if err := r.writeHosts(&run); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			mustEqual(t, "content", string(content), string(got))
			info, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			mustEqual(t, "written", tc.written, !info.ModTime().Equal(old))
		})
	}
}

func TestAHostsFileIsARegularFile(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(file, other string) error{
		"not a link":      func(file, other string) error { return os.Symlink(other, file) },
		"not a pipe":      func(file, _ string) error { return syscall.Mkfifo(file, 0o666) },
		"not a directory": func(file, _ string) error { return os.Mkdir(file, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			run := containerRun(newPod("web"), "", 0)
			file, other := r.layout.HostsFile(run.Pod.UID), filepath.Join(t.TempDir(), "other")
			write(t, other, "other")
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := plant(file, other); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- r.writeHosts(&run) }()
			select {
			case err := <-ended:
				if err == nil || !strings.Contains(err.Error(), file+" is not a regular file") || !strings.Contains(err.Error(), "remove it") {
					t.Errorf("got %v", err)
				}
			case <-time.After(10 * time.Second):
				t.Fatal("it waits for the other end of the pipe")
			}
			got, err := os.ReadFile(other)
			if err != nil || string(got) != "other" {
				t.Errorf("the file that is linked to: %q, %v", got, err)
			}
		})
	}
}
