package main

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheTableTellsWhichLimitsAreMissed(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	missed := printTable(&out, []measure{
		measured("kept", 35_000_000, 35_000_000),
		measured("missed", 35_000_001, 35_000_000),
		measured("without a limit", 1_234_567, 0),
		broken("broken", errors.New("line 1\nline 2")),
		{what: "builds", value: "1.0 MB", limit: "builds"},
	})
	want := "MEASURE           VALUE            LIMIT             \n" +
		"kept              35.0 MB          at most 35.0 MB   ok\n" +
		"missed            35.0 MB          at most 35.0 MB   MISSED\n" +
		"without a limit   1.2 MB                             \n" +
		"broken            does not build   builds            MISSED\n" +
		"builds            1.0 MB           builds            ok\n" +
		"\nbroken: line 1\nline 2\n"
	if diff := cmp.Diff(want, out.String()); diff != "" || missed != 2 {
		t.Errorf("%d missed, want 2; (-want +got):\n%s", missed, diff)
	}
}

func TestFindForbidden(t *testing.T) {
	t.Parallel()
	got := findForbidden([]string{
		"k8s.io/client-go/kubernetes", "k8s.io/client-go/kubernetes/scheme", "k8s.io/client-go/kubernetesx", "k8s.io/client-go/rest",
		"k8s.io/kubernetes/pkg/kubelet", "k8s.io/kubernetes-x", "example.com/k8s.io/kubernetes",
	})
	want := []string{"k8s.io/client-go/kubernetes", "k8s.io/client-go/kubernetes/scheme", "k8s.io/kubernetes/pkg/kubelet"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParseDirect(t *testing.T) {
	t.Parallel()
	got, err := parseDirect([]byte(`{"Require": [{"Path": "a"}, {"Path": "b", "Indirect": true}, {"Path": "c"}]}`))
	if diff := cmp.Diff(map[string]bool{"a": true, "c": true}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got, err := parseDirect([]byte("module x")); err == nil {
		t.Errorf("no JSON gives %v", got)
	}
}

const someMaps = `00400000-00401000 r-xp 00000000 fe:00 123    /usr/bin/wardlet
Size:                 40 kB
Rss:                  12 kB
Pss:                   6 kB
00500000-00501000 r-xp 00001000 fe:00 123    /usr/bin/wardlet
Rss:                   8 kB
c000000000-c000400000 rw-p 00000000 00:00 0 [anon: Go: heap]
Rss:                 100 kB
VmFlags: rd wr mr mw me ac sd
7f0000000000-7f0000001000 rw-p 00000000 00:00 0
Rss:                  30 kB
7f0000002000-7f0000003000 ---p 00000000 00:00 0
Rss:                   0 kB
`

func TestMappingsAreSummedUpByWhatIsMapped(t *testing.T) {
	t.Parallel()
	want := []mapping{{"[anon: Go: heap] rw-", 100 << 10}, {"anonymous rw-", 30 << 10}, {"/usr/bin/wardlet r-x", 20 << 10}}
	if diff := cmp.Diff(want, mappings(someMaps), cmp.AllowUnexported(mapping{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func FuzzMappings(f *testing.F) {
	f.Add(someMaps)
	f.Fuzz(func(t *testing.T, smaps string) {
		last := int64(-1)
		for _, m := range mappings(smaps) {
			if last >= 0 && m.resident > last {
				t.Errorf("%s with %d comes after %d", m.name, m.resident, last)
			}
			last = m.resident
		}
	})
}

// The kernel's figures about this process can be parsed.
func TestReadMemory(t *testing.T) {
	t.Parallel()
	found, err := readMemory(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	var sum int64
	for _, m := range mappings(found.maps) {
		sum += m.resident
	}
	// The three values were read one after the other. Because of shared memory, PSS is the
	// smallest.
	if found.proportional > found.resident*3/2 || sum < found.resident/2 || sum > found.resident*2 || found.resident < 1<<20 {
		t.Errorf("resident %d, proportional %d, sum of mappings %d", found.resident, found.proportional, sum)
	}
	if _, err := readMemory(1 << 30); err == nil || !strings.Contains(err.Error(), strconv.Itoa(1<<30)) {
		t.Errorf("a process that is not there: %v", err)
	}
}
