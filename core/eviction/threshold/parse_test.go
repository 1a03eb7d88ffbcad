package threshold

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// lines returns thresholds as text: signal, value, grace period and minimum reclaim.
func lines(all []Threshold) []string {
	var out []string
	for i := range all {
		t := &all[i]
		line := string(t.Signal) + "<" + t.Value.String()
		if !t.Hard() {
			line += " for " + t.Grace.String()
		}
		if t.Reclaim != nil {
			line += " +" + t.Reclaim.String()
		}
		out = append(out, line)
	}
	return out
}

func TestParse(t *testing.T) {
	t.Parallel()
	type table = map[string]string
	for name, test := range map[string]struct {
		settings Settings
		want     []string
	}{
		"nothing": {Settings{}, nil},
		"the defaults": {Settings{Hard: DefaultHard()}, []string{
			"memory.available<100Mi", "nodefs.available<10%", "nodefs.inodesFree<5%", "imagefs.available<15%", "imagefs.inodesFree<5%",
		}},
		"disabled by 0% and 100%": {Settings{
			Hard: table{"memory.available": "0%", "nodefs.available": "100%", "pid.available": "1k"}, Soft: table{"memory.available": "0%"},
		}, []string{"pid.available<1k"}},
		"soft with its grace period, after hard": {Settings{
			Hard: table{"memory.available": "100Mi"}, Soft: table{"memory.available": "0.3Gi", "nodefs.available": "12.5%"},
			SoftGracePeriod: map[string]time.Duration{"memory.available": time.Minute, "nodefs.available": time.Hour, "pid.available": time.Second},
		}, []string{"memory.available<100Mi", "memory.available<322122547200m for 1m0s", "nodefs.available<12.5% for 1h0m0s"}},
		"soft without a grace period to wait for": {Settings{
			Soft: table{"memory.available": "1Gi"}, SoftGracePeriod: map[string]time.Duration{"memory.available": 0},
		}, []string{"memory.available<1Gi"}},
		"a minimum reclaim": {Settings{
			Hard: table{"memory.available": "100Mi", "nodefs.available": "5%"}, MinimumReclaim: table{"memory.available": "0", "nodefs.available": "150%", "imagefs.available": "2Gi"},
		}, []string{"memory.available<100Mi +0", "nodefs.available<5% +150%"}},
		"a share of nothing": {Settings{Hard: table{"memory.available": "0.0%"}}, []string{"memory.available<0%"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, faults := Parse(&test.settings)
			if d := cmp.Diff(test.want, lines(got)); d != "" || len(faults) > 0 {
				t.Errorf("faults %v, thresholds (-want +got):\n%s", faults, d)
			}
		})
	}
}

func TestParse_faults(t *testing.T) {
	t.Parallel()
	const form = `want a quantity such as "100Mi", or a percentage such as "10%", found `
	for value, want := range map[string]string{
		"":         form + `""`,
		"much":     form + `"much"`,
		"10 %":     form + `"10 %"`,
		"%":        form + `"%"`,
		"NaN%":     form + `"NaN%"`,
		"Inf%":     form + `"Inf%"`,
		"1e99%":    form + `"1e99%"`,
		"100.1%":   `want 0% to 100%, found "100.1%"`,
		"-1%":      `want 0% to 100%, found "-1%"`,
		"0":        `want a quantity above 0, or "0%" for no threshold, found "0"`,
		"-100Mi":   `want a quantity above 0, or "0%" for no threshold, found "-100Mi"`,
		"100MiB":   form + `"100MiB"`,
		"100Mi<1%": form + `"100Mi<1%"`,
	} {
		got, faults := Parse(&Settings{Hard: map[string]string{"memory.available": value, "pid.available": "5"}})
		if d := cmp.Diff([]Fault{{TableHard, "memory.available", want}}, faults); d != "" {
			t.Errorf("%q: faults (-want +got):\n%s", value, d)
		}
		if d := cmp.Diff([]string{"pid.available<5"}, lines(got)); d != "" {
			t.Errorf("%q: the other threshold (-want +got):\n%s", value, d)
		}
	}
	_, faults := Parse(&Settings{
		Hard:            map[string]string{"cpu.available": "1", "containerfs.available": "5%", "allocatableMemory.available": "1Gi"},
		Soft:            map[string]string{"memory.available": "1Gi"},
		SoftGracePeriod: map[string]time.Duration{"nodefs.available": -1, "disk": 0},
		MinimumReclaim:  map[string]string{"memory.available": "0%", "nodefs.available": "-1", "pid.available": "x"},
	})
	var got []string
	for _, f := range faults {
		got = append(got, f.Table+" "+f.Signal+" "+f.Message)
	}
	want := []string{
		"hard allocatableMemory.available it has the threshold of memory.available where node.system_reserved or node.kube_reserved limits the memory of pods; set that one",
		"hard containerfs.available there are no thresholds for the file system of containers: a kubelet ignores them, too; set those of nodefs or imagefs",
		"hard cpu.available unknown signal; known are memory.available, nodefs.available, nodefs.inodesFree, imagefs.available, imagefs.inodesFree, pid.available",
		"soft_grace_period disk unknown signal; known are memory.available, nodefs.available, nodefs.inodesFree, imagefs.available, imagefs.inodesFree, pid.available",
		"soft_grace_period nodefs.available want 0s or more, found -1ns",
		`minimum_reclaim memory.available want more than 0%, found "0%"`,
		`minimum_reclaim nodefs.available want a quantity of 0 or more, found "-1"`,
		"minimum_reclaim pid.available " + form + `"x"`,
		`soft memory.available needs a grace period: add it to eviction.soft_grace_period, for example "memory.available" = "90s"`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("faults (-want +got):\n%s", d)
	}
}

func TestWithAllocatable(t *testing.T) {
	t.Parallel()
	all, faults := Parse(&Settings{
		Hard: map[string]string{"memory.available": "100Mi", "pid.available": "5"}, MinimumReclaim: map[string]string{"memory.available": "1Mi"},
		Soft: map[string]string{"memory.available": "200Mi"}, SoftGracePeriod: map[string]time.Duration{"memory.available": time.Second},
	})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	got := WithAllocatable(all)
	if len(got) != 4 || len(all) != 3 || got[1].Signal != AllocatableMemoryAvailable || got[1].Value.String() != "100Mi" || !got[1].Hard() || got[1].Reclaim == nil {
		t.Errorf("%+v", got)
	}
	if got := WithAllocatable(all[1:]); len(got) != 2 {
		t.Errorf("without a hard threshold of memory: %+v", got)
	}
}

func TestValue_Of(t *testing.T) {
	t.Parallel()
	of := func(text string, capacity int64) string {
		v, err := limit(text)
		if err != nil {
			t.Fatal(err)
		}
		q := v.Of(capacity)
		return q.String()
	}
	for want, got := range map[string]string{"100Mi": of("100Mi", 1), "100": of("10%", 1000), "0": of("10%", 9), "1Gi": of("50%", 2<<30)} {
		if got != want {
			t.Errorf("amount %s, want %s", got, want)
		}
	}
}

// FuzzParse requires that Parse accepts or refuses each value, and that an accepted threshold has a
// text that means the same.
func FuzzParse(f *testing.F) {
	for _, value := range []string{"100Mi", "10%", "0%", "100%", "101%", "-1", "1e3", "NaN%", "0x1p-2%", "5%%", "1.5Gi", "9999999999999999999E", "%"} {
		f.Add("memory.available", value)
	}
	f.Add("containerfs.available", "5%")
	f.Fuzz(func(t *testing.T, signal, text string) {
		settings := Settings{
			Hard: map[string]string{signal: text}, Soft: map[string]string{signal: text}, MinimumReclaim: map[string]string{signal: text},
			SoftGracePeriod: map[string]time.Duration{signal: time.Second},
		}
		all, faults := Parse(&settings)
		for _, fault := range faults {
			if fault.Signal != signal || fault.Message == "" {
				t.Fatalf("fault %+v of signal %q", fault, signal)
			}
		}
		for i := range all {
			v := all[i].Value
			switch {
			case string(all[i].Signal) != signal:
				t.Fatalf("threshold of signal %s from %q", all[i].Signal, signal)
			case v.Quantity == nil && (v.Share < 0 || v.Share > 1), v.Quantity != nil && v.Quantity.Sign() <= 0:
				t.Fatalf("%q is accepted as %s", text, v)
			}
			for _, capacity := range []int64{0, 1, 1 << 40} {
				if amount := v.Of(capacity); v.Quantity == nil && (amount.Sign() < 0 || amount.Value() > capacity) {
					t.Fatalf("%q of %d is %s", text, capacity, &amount)
				}
			}
		}
		if len(all) == 0 && len(faults) == 0 && text != "0%" && text != "100%" {
			t.Fatalf("%q is neither a threshold nor a fault", text)
		}
		if strings.HasSuffix(text, "%") && len(all) > 0 && all[0].Value.Quantity != nil {
			t.Fatalf("%q is accepted as a quantity", text)
		}
	})
}
