package eviction

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/kubernetes/pkg/kubelet/eviction"
	evictionapi "k8s.io/kubernetes/pkg/kubelet/eviction/api"

	"github.com/wardlet/wardlet/core/eviction/threshold"
)

// configurations is the number of configurations that are parsed by both.
const configurations = 20_000

var (
	signalTexts = []string{"memory.available", "nodefs.available", "nodefs.inodesFree", "imagefs.available", "imagefs.inodesFree", "pid.available"}
	valueTexts  = []string{
		"100Mi", "1Gi", "1.5Gi", "500k", "5", "0.5", "1e3", "10%", "5%", "12.5%", "0%", "100%", "99.9%", "0.0%", "+7%", "5%%", "0x1p1%", "1e1%",
	}
	badTexts = []string{"0", "-1Gi", "-5%", "100.1%", "150%", "", "%", "x", "x%", "10 %", " 5%", "1GiB", "1e99%", "-0.1%"}
)

// tables returns random tables. Some of them have faults.
func tables(r *rand.Rand) *threshold.Settings {
	faulty := r.IntN(4) == 0
	table := func() map[string]string {
		out := map[string]string{}
		for _, signal := range signalTexts {
			if r.IntN(3) > 0 {
				continue
			}
			out[signal] = valueTexts[r.IntN(len(valueTexts))]
			if faulty && r.IntN(4) == 0 {
				out[signal] = badTexts[r.IntN(len(badTexts))]
			}
		}
		if faulty && r.IntN(12) == 0 {
			out["cpu.available"] = "5%"
		}
		return out
	}
	s := &threshold.Settings{Hard: table(), Soft: table(), MinimumReclaim: table(), SoftGracePeriod: map[string]time.Duration{}}
	for _, signal := range signalTexts {
		if !faulty || r.IntN(8) > 0 {
			s.SoftGracePeriod[signal] = time.Duration(r.IntN(100)) * time.Second
		}
	}
	if faulty && r.IntN(6) == 0 {
		s.SoftGracePeriod["pid.available"] = -time.Second
	}
	return s
}

// texts returns a table of durations as a kubelet has it.
func texts(table map[string]time.Duration) map[string]string {
	out := map[string]string{}
	for signal, d := range table {
		out[signal] = d.String()
	}
	return out
}

func amount(q fmt.Stringer, share float32, has bool) string {
	if has {
		return q.String()
	}
	return fmt.Sprint(share)
}

// theirLines and ourLines return thresholds in one form, sorted.
func theirLines(all []evictionapi.Threshold) []string {
	var lines []string
	for i := range all {
		t := &all[i]
		line := fmt.Sprint(t.Signal, " ", t.GracePeriod, " ", amount(t.Value.Quantity, t.Value.Percentage, t.Value.Quantity != nil))
		if m := t.MinReclaim; m != nil {
			line += " + " + amount(m.Quantity, m.Percentage, m.Quantity != nil)
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

func ourLines(all []threshold.Threshold) []string {
	var lines []string
	for i := range all {
		t := &all[i]
		line := fmt.Sprint(t.Signal, " ", t.Grace, " ", amount(t.Value.Quantity, t.Value.Share, t.Value.Quantity != nil))
		if m := t.Reclaim; m != nil {
			line += " + " + amount(m.Quantity, m.Share, m.Quantity != nil)
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

func TestAKubeletParsesTheSameThresholds(t *testing.T) {
	t.Parallel()
	refused, parsed := 0, 0
	for seed := range uint64(configurations) {
		s := tables(rand.New(rand.NewPCG(seed, 1)))
		theirs, err := eviction.ParseThresholdConfig(nil, s.Hard, s.Soft, texts(s.SoftGracePeriod), s.MinimumReclaim)
		ours, faults := threshold.Parse(s)
		if (err != nil) != (len(faults) > 0) {
			t.Fatalf("seed %d: a kubelet says %v, and Wardlet %v, of %+v", seed, err, faults, s)
		}
		if err != nil {
			refused++
			continue
		}
		parsed += len(ours)
		if want, got := strings.Join(theirLines(theirs), "\n"), strings.Join(ourLines(ours), "\n"); got != want {
			t.Fatalf("seed %d: a kubelet has\n%s\nand Wardlet\n%s", seed, want, got)
		}
	}
	t.Logf("%d configurations, %d refused, %d thresholds", configurations, refused, parsed)
	if refused < configurations/20 || parsed < configurations {
		t.Errorf("only %d configurations were refused, and only %d thresholds parsed", refused, parsed)
	}
}

func TestTheDefaultsAreAKubelets(t *testing.T) {
	t.Parallel()
	if want, got := eviction.DefaultEvictionHard, threshold.DefaultHard(); !maps.Equal(want, got) {
		t.Errorf("a kubelet has %v, and Wardlet %v", want, got)
	}
}
