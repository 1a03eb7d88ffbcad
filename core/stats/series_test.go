package stats

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/internal/filesystem"
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
	r.write(t, map[string]string{
		"sys/dev/block/8:0/uevent": "DEVNAME=sda\n", "sys/dev/block/8:1/uevent": "DEVNAME=sda1\n",
		"sys/fs/cgroup/io.stat": "8:0 rbytes=10 wbytes=20 rios=30 wios=40\n", "sys/fs/cgroup/cgroup.procs": "1\n2\n3\n",
	})
	r.cri.SetImageStoreDir("/images")
	r.files.ReadFunc = func(path string) (filesystem.State, error) {
		if path == filepath.Join(r.root, "lib") {
			return filesystem.State{Capacity: 1000, Free: 600, Available: 500, Inodes: 50, FreeInodes: 20, Device: unix.Mkdev(8, 1)}, nil
		}
		return filesystem.State{Capacity: 2000, Free: 700, Available: 600, Inodes: 60, FreeInodes: 30, Device: unix.Mkdev(0, 45)}, nil
	}
	r.write(t, cgroup("web", "", counters))
	r.write(t, cgroup("web", id, counters))
	return r, []string{id, "CONTAINER", sandbox, "SANDBOX"}
}

func TestResource(t *testing.T) {
	t.Parallel()
	r, hide := measuredRig(t)
	golden(t, "resource.txt", scrape(t, r.Resource()), hide...)
}

// ofThisMachine matches the series whose value depends on the disk of this machine.
var ofThisMachine = regexp.MustCompile(`(?m)^(container_fs_usage_bytes\{container="main".*\}) \S+ `)

func TestCadvisor(t *testing.T) {
	t.Parallel()
	r, hide := measuredRig(t)
	golden(t, "cadvisor.txt", ofThisMachine.ReplaceAllString(scrape(t, r.Cadvisor()), "$1 DISK "), hide...)
}

// TestCadvisor_cpuLimit has the families of CPU limits only where there is a limit.
func TestCadvisor_cpuLimit(t *testing.T) {
	t.Parallel()
	r, _ := measuredRig(t)
	id := r.seen[0].Containers[0].ID
	r.write(t, cgroup("web", id, map[string]string{"cpu.max": "max 100000\n"}))
	got := scrape(t, r.Cadvisor())
	for _, family := range []string{"periods_total", "throttled_periods_total", "throttled_seconds_total"} {
		ofPod, ofContainer := strings.Contains(got, `container_cpu_cfs_`+family+`{container=""`), strings.Contains(got, `container_cpu_cfs_`+family+`{container="main"`)
		if !ofPod || ofContainer {
			t.Errorf("%s: pod with a limit %t, container without one %t", family, ofPod, ofContainer)
		}
	}
}

// TestCadvisor_node has the series of the whole machine.
func TestCadvisor_node(t *testing.T) {
	t.Parallel()
	r, _ := measuredRig(t)
	got := scrape(t, r.Cadvisor())
	of := func(family, label, value string) string {
		labels := []string{`container=""`, `id="/"`, `image=""`, `name=""`, `namespace=""`, `pod=""`}
		if label != "" {
			labels = append(labels, label)
			slices.Sort(labels)
		}
		return family + "{" + strings.Join(labels, ",") + "} " + value + " "
	}
	for _, want := range []string{
		of("container_processes", "", "3"), of("container_threads", "", "345"), of("container_threads_max", "", "1000"),
		of("container_fs_reads_bytes_total", `device="/dev/sda"`, "10"), of("container_fs_writes_bytes_total", `device="/dev/sda"`, "20"),
		of("container_fs_reads_total", `device="/dev/sda"`, "30"), of("container_fs_writes_total", `device="/dev/sda"`, "40"),
		of("container_fs_usage_bytes", `device="/dev/sda1"`, "400"), of("container_fs_limit_bytes", `device="/dev/sda1"`, "1000"),
		of("container_fs_inodes_total", `device="/dev/sda1"`, "50"), of("container_fs_inodes_free", `device="/dev/sda1"`, "20"),
		of("container_fs_usage_bytes", `device="0:45"`, "1300"),
		of("container_network_receive_bytes_total", `interface="eth0"`, "1"), of("container_network_transmit_packets_total", `interface="eth1"`, "6"),
	} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%d times %s", strings.Count(got, want), want)
		}
	}
	if strings.Contains(got, `"veth1"`) {
		t.Error("an interface of a pod is shown")
	}
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
