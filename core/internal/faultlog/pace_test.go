package faultlog

import (
	"strings"
	"testing"
	"time"
)

func TestAFaultThatStaysIsLoggedOnceAMinute(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	type try struct {
		after       time.Duration
		about, text string // text is empty if the try succeeds
		logged      bool
	}
	const sec = time.Second
	for name, tries := range map[string][]try{
		"it is logged when it begins, and not at every try": {
			{0, "", "broken", true}, {sec, "", "broken", false}, {59 * sec, "", "broken", false},
		},
		"a minute after it was logged it is logged again": {
			{0, "", "broken", true}, {30 * sec, "", "broken", false}, {60 * sec, "", "broken", true}, {119 * sec, "", "broken", false}, {120 * sec, "", "broken", true},
		},
		"another fault is logged at once": {
			{0, "", "broken", true}, {sec, "", "lost", true}, {2 * sec, "", "lost", false},
		},
		"two that take turns are logged once a minute each": {
			{0, "", "broken", true}, {sec, "", "lost", true}, {2 * sec, "", "broken", false}, {3 * sec, "", "lost", false}, {60 * sec, "", "broken", true}, {60 * sec, "", "lost", false},
		},
		"one that is about something else is another": {
			{0, "sync", "broken", true}, {sec, "terminating", "broken", true}, {2 * sec, "sync", "broken", false},
		},
		"an ID, an address or a duration does not make it another": {
			{0, "", "task c1f00d at 10.0.0.7:80 not made in 20s", true}, {sec, "", "task 9bead at 10.0.0.8:80 not made in 1m0s", false}, {2 * sec, "", "task 9bead not removed", true},
		},
		"one that comes back after it was over is logged at once": {
			{0, "", "broken", true}, {sec, "", "", true}, {2 * sec, "", "", false}, {3 * sec, "", "broken", true}, {4 * sec, "", "", true},
		},
		"that nothing was ever wrong is not logged": {{0, "", "", false}},
		"that it is over is logged once, also a minute after it was logged last": {
			{0, "", "broken", true}, {120 * sec, "", "", true}, {121 * sec, "", "", false},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var p Pace
			for i, tr := range tries {
				var got bool
				if tr.text == "" {
					got = p.Over()
				} else {
					got = p.Due(tr.about, tr.text, noon.Add(tr.after))
				}
				if got != tr.logged {
					t.Errorf("try %d, %+v: logged %v", i, tr, got)
				}
			}
		})
	}
}

func TestWhatTellsFaultsApart(t *testing.T) {
	t.Parallel()
	id := func(digit string) string { return strings.Repeat(digit+"a", 32) }
	for name, tc := range map[string]struct {
		one, other string
		same       bool
	}{
		"a name in quotes does":          {`pull image "reg/app1": not found`, `pull image "reg/app2": not found`, false},
		"a name without quotes does":     {"pull image reg/app1: not found", "pull image reg/app2: not found", false},
		"a version does":                 {"image app:v1.2.3 not found", "image app:v1.2.4 not found", false},
		"a number in quotes does":        {`port "8080" is taken`, `port "8081" is taken`, false},
		"a name of hex digits does":      {"volume a1 is missing", "volume a2 is missing", false},
		"a number does not":              {"exited after 3 tries (code 1)", "exited after 4 tries (code 2)", true},
		"a size does not":                {"used 10.5MiB of 1Gi, 3%", "used 11MiB of 2Gi, 4%", true},
		"a duration does not":            {"not made in 1m0.5s, gave up", "not made in 300ms, gave up", true},
		"a time does not":                {"since 2026-01-02T03:04:05.678Z, last at 03:04:05", "since 2026-01-02T03:05:05+01:00, last at 03:05:05", true},
		"an address does not":            {"dial tcp 10.0.0.7:4711->10.0.0.8:443: refused", "dial tcp 10.0.0.7:4712->10.0.0.8:443: refused", true},
		"an address of IPv6 does not":    {"dial tcp [fd00::7]:4711: refused", "dial tcp [fd00::8]:4711: refused", true},
		"an ID does not":                 {"task " + id("1") + " is gone", "task " + id("2") + " is gone", true},
		"an ID in quotes does not":       {`name is taken by "` + id("1") + `"`, `name is taken by "` + id("2") + `"`, true},
		"a text in quotes is a text":     {`cause "read tcp 10.0.0.2:4711: reset"`, `cause "read tcp 10.0.0.2:4712: reset"`, true},
		"an ID in a path does not":       {"open /run/task/" + id("1") + "/rootfs: missing", "open /run/task/" + id("2") + "/rootfs: missing", true},
		"a UUID does not":                {`pod "0a0b0c0d-1111-2222-3333-444444444444"`, `pod "1a0b0c0d-1111-2222-3333-444444444445"`, true},
		"a temporary name does not":      {"mount /tmp/containerd-mount314159265: busy", "mount /tmp/containerd-mount271828182: busy", true},
		"what stands around an ID does":  {"open /run/task/" + id("1") + "/rootfs: missing", "open /run/task/" + id("1") + "/work: missing", false},
		"what comes after a number does": {"3 tries: refused", "3 tries: timed out", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var p Pace
			now := time.Now()
			if !p.Due("", tc.one, now) {
				t.Fatal("not logged")
			}
			if again := p.Due("", tc.other, now); again == tc.same {
				t.Errorf("%q, then %q: logged again %v", tc.one, tc.other, again)
			}
		})
	}
}

func TestWhatIsRememberedIsOfTheLastMinute(t *testing.T) {
	t.Parallel()
	var p Pace
	now := time.Now()
	for i := range 10_000 {
		p.Due("", "word"+string(rune('a'+i%26))+string(rune('a'+i/26%26))+string(rune('a'+i/676)), now)
		now = now.Add(time.Second)
	}
	if len(p.logged) > 60 {
		t.Errorf("%d faults are remembered", len(p.logged))
	}
}
