package main

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestTheTimelineTellsWhatWasDoneWhen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		line := &timeline{out: &out}
		began := time.Now()
		for i := range 4 {
			line.add("step %d", i)
			time.Sleep(time.Second)
		}
		got := line.between(began.Add(time.Second), began.Add(2*time.Second))
		if len(got) != 2 || got[0].text != "step 1" || got[1].text != "step 2" {
			t.Errorf("between are %v", got)
		}
		if want := clock(began.Add(3*time.Second)) + " step 3\n"; !strings.HasSuffix(out.String(), want) {
			t.Errorf("written was\n%swant %s", out.String(), want)
		}
	})
}

func TestAround(t *testing.T) {
	t.Parallel()
	log := `time=2026-01-02T15:04:01.000Z level=INFO msg=early
time=2026-01-02T15:04:05.000Z level=INFO msg="pod starts" pod=default/web-00-chaos
time=2026-01-02T15:04:05.100Z level=INFO msg="pod starts" pod=default/web-01-chaos
time=2026-01-02T15:04:05.200Z level=DEBUG msg=detail
time=2026-01-02T15:04:05.300Z level=WARN msg="runtime is away"
goroutine 1 [running]:
time=2026-01-02T15:04:09.000Z level=INFO msg=late
`
	from := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	lines := strings.Split(strings.TrimSpace(log), "\n")
	for name, test := range map[string]struct {
		pod  string
		most int
		want []string
	}{
		"of all":         {"", 10, lines[1:6]},
		"of a pod":       {"web-00", 10, []string{lines[1], lines[4], lines[5]}},
		"not too much":   {"", 2, lines[4:6]},
		"of no such":     {"web-02", 10, lines[4:6]},
		"of another":     {"web-01", 1, lines[5:6]},
		"nothing at all": {"", 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := around(log, test.pod, from, from.Add(time.Second), test.most)
			if !slices.Equal(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}
