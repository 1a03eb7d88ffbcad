package stats

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

var update = flag.Bool("update", false, "write the golden files and docs/metrics.md anew")

// scrape returns the answer of a handler.
func scrape(t *testing.T, h http.Handler) string {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	if w.Code != http.StatusOK {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// golden compares text with a file of testdata. Each pair in hide is a text and its replacement.
func golden(t *testing.T, name, got string, hide ...string) {
	t.Helper()
	got = strings.NewReplacer(hide...).Replace(got)
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// measuredRig is a machine on which everything is known.
func measuredRig(t *testing.T) (r *rig, hide []string) {
	t.Helper()
	r = newRig(t)
	p := r.run(t, "web", "main")
	id, sandbox := p.Containers[0].ID, p.Sandboxes[0].ID
	stats := used(r.now.Add(-time.Second), 2500*time.Millisecond, 4000)
	stats.Memory.RssBytes, stats.Memory.PageFaults, stats.Memory.MajorPageFaults = wrapped(100), wrapped(8), wrapped(9)
	stats.Swap = &runtimeapi.SwapUsage{Timestamp: r.now.UnixNano(), SwapUsageBytes: wrapped(1), SwapAvailableBytes: wrapped(2)}
	stats.WritableLayer = &runtimeapi.FilesystemUsage{Timestamp: r.now.UnixNano(), FsId: &runtimeapi.FilesystemIdentifier{Mountpoint: r.root}, UsedBytes: wrapped(1 << 20)}
	r.cri.SetStats(id, stats)
	counters := map[string]string{
		"cpu.stat":       "usage_usec 1500\nuser_usec 1000\nsystem_usec 500\nnr_periods 10\nnr_throttled 3\nthrottled_usec 70\n",
		"memory.current": "5000\n", "memory.max": "9000\n", "memory.swap.max": "20\n", "memory.swap.current": "5\n", "memory.peak": "6000\n",
		"memory.stat": "anon 3000\nfile 1500\nfile_mapped 200\ninactive_file 700\npgfault 40\npgmajfault 2\n", "memory.events": "max 4\noom_kill 1\n",
		"pids.current": "5\n", "pids.max": "100\n", "cpu.weight": "39\n", "cpu.max": "50000 100000\n", "io.stat": "8:0 rbytes=1 wbytes=2 rios=3 wios=4\n",
		"cpu.pressure": waits, "memory.pressure": waits, "io.pressure": waits, "cgroup.procs": "7\n8\n",
	}
	r.write(t, map[string]string{"sys/dev/block/8:0/uevent": "DEVNAME=sda\n"})
	r.write(t, cgroup("web", "", counters))
	r.write(t, cgroup("web", id, counters))
	return r, []string{id, "CONTAINER", sandbox, "SANDBOX"}
}

func TestResource(t *testing.T) {
	t.Parallel()
	r, hide := measuredRig(t)
	golden(t, "resource.txt", scrape(t, r.Resource()), hide...)
}

// ofThisMachine matches the series whose values depend on the disk of this machine.
var ofThisMachine = regexp.MustCompile(`(?m)^(container_fs_(?:usage_bytes|limit_bytes|inodes_total|inodes_free)\{.*\}) \S+ `)

func TestCadvisor(t *testing.T) {
	t.Parallel()
	r, hide := measuredRig(t)
	golden(t, "cadvisor.txt", ofThisMachine.ReplaceAllString(scrape(t, r.Cadvisor()), "$1 DISK "), hide...)
}

// TestCadvisor_networkOfTheRuntime has only the runtime's counters of a pod's network.
func TestCadvisor_networkOfTheRuntime(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := r.run(t, "web", "main")
	if err := os.RemoveAll(filepath.Join(r.root, "sys/fs/cgroup/wardlet")); err != nil {
		t.Fatal(err)
	}
	r.cri.SetSandboxStats(p.Sandboxes[0].ID, &runtimeapi.LinuxPodSandboxStats{Network: &runtimeapi.NetworkUsage{
		Timestamp: r.now.UnixNano(), DefaultInterface: &runtimeapi.NetworkInterfaceUsage{Name: "eth0", RxBytes: wrapped(13), TxErrors: wrapped(14)},
	}})
	got := scrape(t, r.Cadvisor())
	for _, want := range []string{
		`container_network_receive_bytes_total{container="",id="/` + p.Sandboxes[0].ID + `",image="",interface="eth0",name="` + p.Sandboxes[0].ID + `",namespace="default",pod="web"} 13 `,
		`container_network_transmit_errors_total{`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in:\n%s", want, got)
		}
	}
}

// TestResource_failure reports the failure as a kubelet does.
func TestResource_failure(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write(t, map[string]string{"proc/stat": ""})
	if got := scrape(t, r.Resource()); !strings.Contains(got, "\nresource_scrape_error 1\n") || strings.Contains(got, "node_") {
		t.Errorf("resource:\n%s", got)
	}
	if got := scrape(t, r.Cadvisor()); !strings.Contains(got, "\ncontainer_scrape_error 1\n") || strings.Contains(got, "container_cpu") {
		t.Errorf("cadvisor:\n%s", got)
	}
}

// TestDocument compares the tables of docs/metrics.md with what is served.
func TestDocument(t *testing.T) {
	t.Parallel()
	r, _ := measuredRig(t)
	const file = "../../docs/metrics.md"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for mark, handler := range map[string]http.Handler{"resource": r.Resource(), "cadvisor": r.Cadvisor()} {
		begin, end := "<!-- "+mark+": made by: go test ./core/stats -update -->\n", "<!-- end of "+mark+" -->\n"
		before, rest, ok := strings.Cut(string(text), begin)
		had, after, ended := strings.Cut(rest, end)
		if !ok || !ended {
			t.Fatalf("%s has no list between %q and %q", file, begin, end)
		}
		want := families(scrape(t, handler))
		if *update {
			text = []byte(before + begin + want + end + after)
			continue
		}
		if diff := cmp.Diff(want, had); diff != "" {
			t.Errorf("%s of %s; write it anew with -update (-want +got):\n%s", mark, file, diff)
		}
	}
	if *update {
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// families returns a list of the metrics in the text of a scrape.
func families(text string) string {
	var out, help strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if rest, ok := strings.CutPrefix(line, "# HELP "); ok {
			_, words, _ := strings.Cut(rest, " ")
			help.Reset()
			help.WriteString(strings.TrimSuffix(words, "."))
		}
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(rest, " ")
			out.WriteString("| `" + name + "` | " + kind + " | " + help.String() + " |\n")
		}
	}
	return "\n| metric | type | what |\n|---|---|---|\n" + out.String() + "\n"
}
