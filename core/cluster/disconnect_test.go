package cluster

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
)

// ended records what endDisconnected does, and the time of the last renewal.
type ended struct {
	mu     sync.Mutex
	began  time.Time
	pods   []string
	events []string
	last   time.Time
	writes int
}

func (e *ended) Disconnected(p *v1.Pod, message string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pods = append(e.pods, fmt.Sprintf("%s after %s", p.Name, time.Since(e.began).Round(2*time.Second)))
	if !strings.Contains(message, pod.AnnotationOnDisconnect) {
		e.events = append(e.events, message)
	}
}

func (e *ended) Event(p *v1.Pod, _, reason, message string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.events = append(e.events, p.Name+" "+reason+" "+message)
}

func (e *ended) Load() (time.Time, error) { return e.last, nil }

func (e *ended) Store(at time.Time) error {
	e.last = at
	e.writes++
	return nil
}

// run runs the loop for a time, as after a start of the agent. renew ends with the connection.
func (e *ended) run(t *testing.T, p pods, connected, away time.Duration) {
	t.Helper()
	m := newMember(nil, p, slog.New(slog.DiscardHandler))
	m.cfg.Stop, m.cfg.Renewals, m.cfg.Now = e, e, time.Now
	m.recallRenewal()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { m.endDisconnected(ctx) })
	for until := time.Now().Add(connected); time.Now().Before(until); time.Sleep(leasePeriod) {
		m.mu.Lock()
		m.renewed = time.Now()
		m.mu.Unlock()
	}
	if connected > 0 {
		m.mu.Lock()
		e.mu.Lock()
		e.began = m.renewed
		e.mu.Unlock()
		m.mu.Unlock()
	}
	time.Sleep(away)
	cancel()
	running.Wait()
}

// annotated returns pods with values of the annotation, by name; empty for none.
func annotated(values map[string]string) pods {
	all := pods{}
	for name, value := range values {
		p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}
		if value != "" {
			p.Annotations = map[string]string{pod.AnnotationOnDisconnect: value}
		}
		all[p.UID] = p
	}
	return all
}

func TestMember_Offline(t *testing.T) {
	t.Parallel()
	began := time.Now()
	for name, test := range map[string]struct {
		// renewed and now are times since the start, renewed 0 for never.
		renewed, now time.Duration
		silent, want bool
	}{
		"at the start":                      {now: time.Second},
		"nothing answers":                   {now: 3 * time.Second, silent: true, want: true},
		"no renewal":                        {now: 21 * time.Second, want: true},
		"connected":                         {renewed: time.Hour, now: time.Hour + 11*time.Second},
		"connected, once an object was not": {renewed: time.Hour, now: time.Hour + 11*time.Second, silent: true},
		"a cut":                             {renewed: time.Hour, now: time.Hour + 21*time.Second, want: true},
	} {
		m := newMember(nil, nil, slog.New(slog.DiscardHandler))
		m.cfg.Now = func() time.Time { return began.Add(test.now) }
		m.connection.since = began
		if test.renewed > 0 {
			m.renewed = began.Add(test.renewed)
		}
		if got := m.Offline(test.silent); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestEndDisconnected(t *testing.T) {
	t.Parallel()
	values := map[string]string{"none": "", "kept": "keep", "short": "stop-after=1m", "long": "stop-after=2h", "wrong": "stop", "hasty": "stop-after=1s"}
	for name, test := range map[string]struct {
		// connected and away are how long the node is that after a start, one pair for each start.
		connected, away []time.Duration
		// off is the time between two starts.
		off  time.Duration
		want []string
	}{
		"connected":                       {[]time.Duration{24 * time.Hour}, []time.Duration{0}, 0, nil},
		"a short cut":                     {[]time.Duration{time.Hour}, []time.Duration{45 * time.Second}, 0, nil},
		"a cut":                           {[]time.Duration{time.Hour}, []time.Duration{time.Hour}, 0, []string{"short after 1m0s"}},
		"a long cut":                      {[]time.Duration{time.Hour}, []time.Duration{3 * time.Hour}, 0, []string{"short after 1m0s", "long after 2h0m0s"}},
		"never connected":                 {[]time.Duration{0}, []time.Duration{time.Hour}, 0, []string{"short after 1m0s"}},
		"a restart after a short cut":     {[]time.Duration{time.Hour, time.Hour}, []time.Duration{30 * time.Second, 0}, 50 * time.Second, nil},
		"a restart in the middle":         {[]time.Duration{time.Hour, 0}, []time.Duration{40 * time.Second, time.Hour}, 10 * time.Second, []string{"short after 1m10s"}},
		"a machine that was off for long": {[]time.Duration{time.Hour, 0}, []time.Duration{0, time.Minute}, time.Hour, []string{"short after 1h0m20s"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				e := &ended{began: time.Now()}
				for i := range test.connected {
					if i > 0 {
						time.Sleep(test.off)
					}
					e.run(t, annotated(values), test.connected[i], test.away[i])
				}
				if !slices.Equal(e.pods, test.want) {
					t.Errorf("stopped: %q, want %q", e.pods, test.want)
				}
				if n := len(e.events); n != 2*len(test.connected) {
					t.Errorf("%d events: %q", n, e.events)
				}
				// The disk of an edge node is flash.
				if limit := int(sum(test.connected)/renewalPeriod) + 2; e.writes > limit {
					t.Errorf("%d writes, at most %d are due", e.writes, limit)
				}
			})
		})
	}
}

func sum(all []time.Duration) (total time.Duration) {
	for _, d := range all {
		total += d
	}
	return total
}

// Nodes without such pods write nothing.
func TestEndDisconnected_withoutPods(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := &ended{}
		e.run(t, annotated(map[string]string{"none": "", "kept": "keep"}), time.Hour, time.Hour)
		if e.writes+len(e.pods)+len(e.events) > 0 {
			t.Errorf("%+v", e)
		}
	})
}

// TestEndDisconnected_annotationCorrected: a pod whose annotation was wrong is stopped when it is
// right, and one that has not started is not stopped but does not start either.
func TestEndDisconnected_annotationCorrected(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := &ended{}
		all := annotated(map[string]string{"corrected": "stop-after"})
		m := newMember(nil, all, slog.New(slog.DiscardHandler))
		m.cfg.Stop, m.cfg.Renewals = e, e
		m.recallRenewal()
		d := disconnected{stopped: map[types.UID]bool{}, told: map[types.UID]bool{}}
		m.endOnce(&d, false)
		all["corrected"].Annotations[pod.AnnotationOnDisconnect] = "stop-after=1m"
		if err := m.MayStart(all["corrected"]); err != nil {
			t.Errorf("within the time: %v", err)
		}
		time.Sleep(time.Minute)
		m.endOnce(&d, true)
		if len(e.events) != 1 || len(e.pods) != 0 {
			t.Errorf("before the first renewal is tried: %+v", e)
		}
		m.endOnce(&d, false)
		if len(e.pods) != 1 {
			t.Errorf("stopped: %q", e.pods)
		}
		if err := m.MayStart(all["corrected"]); err == nil || !strings.Contains(err.Error(), "not renewed its lease for 1m0s") {
			t.Errorf("after the time: %v", err)
		}
		m.renewed = time.Now()
		if err := m.MayStart(all["corrected"]); err != nil {
			t.Errorf("connected: %v", err)
		}
	})
}
