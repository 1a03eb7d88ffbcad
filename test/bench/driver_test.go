package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// driven runs a script as a driver and returns the last figures.
func driven(ctx context.Context, t *testing.T, script string) (dones []float64, last []figure, err error) {
	t.Helper()
	r := &run{root: t.TempDir(), rounds: 5, progress: &bytes.Buffer{}}
	err = r.drive(ctx, func(done float64, figures []figure) error {
		dones, last = append(dones, done), figures
		return nil
	}, writeScript(t, script))
	return dones, last, err
}

func TestDrive_judgesFiguresByTheirLimits(t *testing.T) {
	t.Parallel()
	_, figures, err := driven(t.Context(), t, `echo '{"done":1,"figures":[{"name":"kept","value":2,"unit":"ns","limit":2},
		{"name":"missed","value":2.1,"unit":"ratio","limit":2,"ok":true},
		{"name":"informs","value":9,"unit":"bytes","peer":"kubelet","peer_value":8}]}'`)
	if err != nil {
		t.Fatal(err)
	}
	if got := missed(figures); len(got) != 1 || got[0] != "missed" {
		t.Errorf("missed %q", got)
	}
	if f := figures[0]; f.Bound != atMost || *f.Limit != 2 {
		t.Errorf("a figure with a limit: %+v", f)
	}
	if f := figures[2]; f.Limit != nil || f.Peer != "kubelet" || *f.PeerValue != 8 {
		t.Errorf("a figure without a limit: %+v", f)
	}
}

func TestDrive_reportsEachMessage(t *testing.T) {
	t.Parallel()
	dones, figures, err := driven(t.Context(), t, `echo '{"done":0.25,"figures":[{"name":"a"}]}'; echo '{"done":1,"figures":[{"name":"a"},{"name":"b"}]}'`)
	if err != nil || len(dones) != 2 || dones[0] != 0.25 || len(figures) != 2 {
		t.Errorf("done %v with %+v: %v", dones, figures, err)
	}
}

func TestDrive_ofADriverThatFails(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ script, says string }{
		"it ends with an error":    {"echo why >&2; exit 3", "why"},
		"it fails after a message": {`echo '{"done":0.5,"figures":[{"name":"a"}]}'; echo why >&2; exit 3`, "why"},
		"it prints something else": {"echo hello", "invalid character"},
		"it has measured nothing":  {`echo '{"done":1,"figures":[]}'`, "measured nothing"},
		"it ends early":            {`echo '{"done":0.5,"figures":[{"name":"a"}]}'`, "after 50 %"},
		"it says nothing":          {":", "measured nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, figures, err := driven(t.Context(), t, test.script)
			if err == nil {
				t.Fatalf("it counts as %+v", figures)
			}
			if !strings.Contains(err.Error(), test.says) {
				t.Errorf("the error does not say %q: %v", test.says, err)
			}
		})
	}
}

func TestDrive_endsADriverWhoseFiguresCannotBeKept(t *testing.T) {
	t.Parallel()
	full := errors.New("no space left")
	r := &run{root: t.TempDir(), rounds: 1, progress: &bytes.Buffer{}}
	program := writeScript(t, `trap 'exit 1' INT; echo '{"done":0.5,"figures":[{"name":"a"}]}'; while :; do sleep 0.05; done`)
	err := r.drive(t.Context(), func(float64, []figure) error { return full }, program)
	if !errors.Is(err, full) {
		t.Errorf("it ends with %v", err)
	}
}

func TestDrive_interruptsADriverSoThatItCleansUp(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	script := `trap 'echo cleaned >&2; exit 1' INT; echo '{"done":0.5,"figures":[{"name":"a"}]}'; while :; do sleep 0.05; done`
	dones, figures, err := driven(ctx, t, script)
	if err == nil || !strings.Contains(err.Error(), "cleaned") {
		t.Errorf("it was ended otherwise: %v", err)
	}
	if len(dones) != 1 || len(figures) != 1 {
		t.Errorf("done %v with %+v", dones, figures)
	}
}

func TestLongRounds_areAThirdOfAll(t *testing.T) {
	t.Parallel()
	for rounds, want := range map[int]int{1: 1, 2: 1, 3: 1, 4: 2, 10: 4} {
		if got := longRounds(rounds); got != want {
			t.Errorf("of %d: %d, want %d", rounds, got, want)
		}
	}
}
