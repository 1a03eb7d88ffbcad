package latency

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/wardlet/wardlet/core/source/file"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestMeasureGivesADurationForEveryManifest(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		rule     string
		how      How
		settling bool
	}{
		{"what is moved into place is delivered sooner than it could settle", ByRename, false},
		{"what is written in place has settled", InPlace, true},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			t.Parallel()
			durations, err := Measure(t.Context(), 8, tc.how)
			if err != nil {
				t.Fatal(err)
			}
			if len(durations) != 8 {
				t.Errorf("%d durations", len(durations))
			}
			// The kernel's file times have a granularity of up to ten milliseconds.
			const settle = file.DefaultSettle - 10*time.Millisecond
			if least := Percentile(durations, 0); least <= 0 || (least >= settle) != tc.settling {
				t.Errorf("the shortest took %v, the settle time is %v", least, file.DefaultSettle)
			}
		})
	}
}

func TestPercentile(t *testing.T) {
	t.Parallel()
	var durations []time.Duration
	for i := range 200 {
		durations = append(durations, time.Duration(200-i))
	}
	var got []time.Duration
	for _, p := range []int{0, 1, 50, 99, 100} {
		got = append(got, Percentile(durations, p))
	}
	if diff := cmp.Diff([]time.Duration{1, 2, 100, 198, 200}, got); diff != "" {
		t.Errorf("percentiles (-want +got):\n%s", diff)
	}
	if got := Percentile([]time.Duration{7}, 99); got != 7 {
		t.Errorf("of one: %v", got)
	}
}

func BenchmarkLatency(b *testing.B) {
	for name, how := range map[string]How{"ByRename": ByRename, "InPlace": InPlace} {
		b.Run(name, func(b *testing.B) {
			durations, err := Measure(b.Context(), 300, how)
			if err != nil {
				b.Fatal(err)
			}
			for _, p := range []int{50, 99, 100} {
				b.ReportMetric(float64(Percentile(durations, p).Microseconds())/1000, map[int]string{50: "p50-ms", 99: "p99-ms", 100: "max-ms"}[p])
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}
