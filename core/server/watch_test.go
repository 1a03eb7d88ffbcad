package server

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/server/client"
	"github.com/wardlet/wardlet/core/status"
)

// world is the state of an agent that is watched. A test can change it.
type world struct {
	status.Notifier

	mu     sync.Mutex
	pods   []v1.Pod
	waits  []api.Waiting
	events []api.Event
}

// set changes the world without a notification.
func (w *world) set(edit func(*world)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	edit(w)
}

// PodList returns copies of the pods.
func (w *world) PodList() *v1.PodList {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := &v1.PodList{}
	for i := range w.pods {
		list.Items = append(list.Items, *w.pods[i].DeepCopy())
	}
	return list
}

type worldWaits struct{ *world }

func (w worldWaits) List() []api.Waiting {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.waits
}

type worldEvents struct{ *world }

func (w worldEvents) List() []api.Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.events
}

func (w *world) server() *Server {
	return New(Options{Pods: w, PodChanges: w, Waiting: worldWaits{w}, Events: worldEvents{w}, Node: "edge"})
}

func one(name string, phase v1.PodPhase) v1.Pod {
	p := listing(name)().Items[0]
	p.UID, p.Status.Phase = types.UID("uid-"+name), phase
	return p
}

// pipes is a listener whose connections synctest can follow.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (*pipes) Addr() net.Addr { return &net.UnixAddr{} }

// watched is a running watch of a world.
type watched struct {
	t     *testing.T
	resp  *http.Response
	lines *json.Decoder
}

// answering serves a server's endpoints until the test ends.
func answering(t *testing.T, s *Server) *http.Client {
	t.Helper()
	l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	srv := &http.Server{Handler: s.mux}
	var served sync.WaitGroup
	served.Go(func() { _ = srv.Serve(l) })
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		l.conns <- theirs
		return ours, nil
	}}}
	t.Cleanup(func() {
		srv.Close()
		served.Wait()
	})
	return c
}

// watch starts a watch of path.
func watch(t *testing.T, c *http.Client, path string) *watched {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://x"+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return &watched{t, resp, json.NewDecoder(resp.Body)}
}

// told reads up to the next bookmark and returns each line in a short form.
func (w *watched) told() []string {
	w.t.Helper()
	var all []string
	for {
		var line struct {
			Type   string
			Object json.RawMessage
		}
		if err := w.lines.Decode(&line); err != nil {
			w.t.Fatalf("%v, after %q", err, all)
		}
		short := line.Type
		switch line.Type {
		case api.WatchBookmark:
			return all
		case api.WatchError:
			return append(all, line.Type+" "+string(line.Object))
		case api.WatchWaiting:
			var waits []api.Waiting
			_ = json.Unmarshal(line.Object, &waits)
			names := []string{short}
			for _, x := range waits {
				names = append(names, x.Pod.Name+":"+x.Verdict.Reason)
			}
			short = strings.Join(names, " ")
		default:
			var what struct { // a pod or an event
				Metadata     struct{ Name string }
				Status       struct{ Phase string }
				Name, Reason string
			}
			_ = json.Unmarshal(line.Object, &what)
			short += " " + what.Metadata.Name + what.Name + what.Status.Phase + what.Reason
		}
		all = append(all, short)
	}
}

// tells fails the test unless the lines up to the next bookmark are the given ones.
func (w *watched) tells(want ...string) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.told()); diff != "" {
		w.t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestAWatchTellsAllPodsAndThenWhatChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := &world{pods: []v1.Pod{one("a", v1.PodRunning), one("b", v1.PodPending)}}
		w := watch(t, answering(t, k.server()), "/v1/pods?watch=true")
		w.tells("ADDED aRunning", "ADDED bPending")
		began := time.Now()
		for _, step := range []struct {
			edit func(*world)
			want []string
		}{
			{func(k *world) { k.pods[1].Status.Phase = v1.PodRunning }, []string{"MODIFIED bRunning"}},
			{func(k *world) { k.pods = append(k.pods, one("c", v1.PodPending)) }, []string{"ADDED cPending"}},
			{func(k *world) { k.pods = append(k.pods[1:], one("d", v1.PodPending)) }, []string{"DELETED aRunning", "ADDED dPending"}},
			{func(k *world) { k.pods[0].UID = "another" }, []string{"DELETED bRunning", "ADDED bRunning"}},
			{func(k *world) { k.pods = nil }, []string{"DELETED bRunning", "DELETED cPending", "DELETED dPending"}},
		} {
			k.set(step.edit)
			k.Notify()
			w.tells(step.want...)
		}
		if took := time.Since(began); took != 5*gatherTime {
			t.Errorf("5 changes were told in %s, want %s", took, 5*gatherTime)
		}
	})
}

func TestAWatchTellsOfManyChangesAtOnceAndOnlyOfWhatLasts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := &world{pods: []v1.Pod{one("a", v1.PodPending)}}
		w := watch(t, answering(t, k.server()), "/v1/pods?watch=1")
		w.tells("ADDED aPending")
		for _, phase := range []v1.PodPhase{v1.PodRunning, v1.PodPending, v1.PodFailed} {
			k.set(func(k *world) { k.pods[0].Status.Phase = phase })
			k.Notify()
		}
		k.Notify() // without a change
		w.tells("MODIFIED aFailed")
		k.Notify()
		time.Sleep(time.Minute)
		k.set(func(k *world) { k.pods = nil })
		w.tells("DELETED aFailed") // and nothing before
	})
}

func TestAWatchLooksWhereNobodyTellsIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := &world{}
		w := watch(t, answering(t, k.server()), "/v1/pods?watch=true")
		w.tells()
		k.set(func(k *world) { k.pods = []v1.Pod{one("a", v1.PodRunning)} })
		began := time.Now()
		w.tells("ADDED aRunning")
		if took := time.Since(began); took != lookPeriod {
			t.Errorf("told after %s, want %s", took, lookPeriod)
		}
	})
}

func TestAWatchTellsWhatWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		web := one("web", v1.PodRunning)
		held := api.Waiting{Pod: &web, Verdict: api.Verdict{Answer: api.Hold, Reason: "NotYet"}}
		k := &world{pods: []v1.Pod{web}, waits: []api.Waiting{held}}
		w := watch(t, answering(t, k.server()), "/v1/pods?watch=true")
		w.tells("WAITING web:NotYet", "ADDED webRunning")
		k.set(func(k *world) { k.waits = []api.Waiting{{Pod: &web, Verdict: api.Verdict{Reason: "Never"}}} })
		k.Notify()
		w.tells("WAITING web:Never")
		k.set(func(k *world) { k.waits = nil })
		k.Notify()
		w.tells("WAITING")
	})
}

// errDone ends a watch after the last line that a test needs.
var errDone = errors.New("done")

func TestAWatchShowsValuesOfTheEnvironmentOnlyWhenAskedFor(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]int{"/v1/pods?watch=true": 0, "/v1/pods?watch=true&env=show": 2} {
		socket, _ := start(t, known{pods: listing("a"), waiting: held{{Pod: &listing("b")().Items[0]}}})
		var all strings.Builder
		err := client.New(socket).Watch(t.Context(), path, func(line client.Line) error {
			all.Write(line.Object)
			if line.Type == api.WatchBookmark {
				return errDone
			}
			return nil
		})
		if shown := strings.Count(all.String(), `"secret"`); !errors.Is(err, errDone) || shown != want {
			t.Errorf("%s: %d values in %s, error %v", path, shown, all.String(), err)
		}
	}
}

func TestAWatchEndsWithTheServerWhichSaysSo(t *testing.T) {
	t.Parallel()
	socket, stop := start(t, known{pods: listing("a"), changes: &status.Notifier{}})
	var stopping sync.WaitGroup
	defer stopping.Wait()
	var last client.Line
	err := client.New(socket).Watch(t.Context(), "/v1/pods?watch=true", func(line client.Line) error {
		if last = line; line.Type == api.WatchBookmark {
			stopping.Go(func() {
				began := time.Now()
				if err := stop(); err != nil || time.Since(began) > shutdownTimeout/2 {
					t.Errorf("Serve took %s to end with a watch, error %v", time.Since(began), err)
				}
			})
		}
		return nil
	})
	if err == nil || last.Type != api.WatchError || string(last.Object) != `"the agent is ending"` {
		t.Errorf("last line %s %s, error %v", last.Type, last.Object, err)
	}
}

func TestAClientThatDoesNotReadIsCutOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := &world{}
		s := k.server()
		w := watch(t, answering(t, s), "/v1/pods?watch=true")
		w.tells()
		k.set(func(k *world) {
			for i := range 500 {
				k.pods = append(k.pods, one(strings.Repeat("x", 200)+string(rune('a'+i)), v1.PodRunning))
			}
		})
		began := time.Now()
		for s.watches.Load() > 0 {
			time.Sleep(100 * time.Millisecond)
		}
		if took := time.Since(began); took < slowReader || took > slowReader+lookPeriod+time.Second {
			t.Errorf("it was cut off after %s, want about %s", took, slowReader)
		}
	})
}

func TestAWatchThatLeavesMakesRoomForAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := answering(t, (&world{}).server())
		var all []*watched
		for range maxWatches {
			all = append(all, watch(t, c, "/v1/pods?watch=true"))
		}
		full := watch(t, c, "/v1/events?watch=true")
		if full.resp.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("status %d with %d watches, want %d", full.resp.StatusCode, maxWatches, http.StatusServiceUnavailable)
		}
		all[3].resp.Body.Close()
		synctest.Wait()
		if again := watch(t, c, "/v1/events?watch=true"); again.resp.StatusCode != http.StatusOK {
			t.Errorf("status %d after one has left", again.resp.StatusCode)
		}
	})
}

func TestAWatchOfEventsTellsThoseOfThePodsItAsksFor(t *testing.T) {
	t.Parallel()
	event := func(began, seq uint64, namespace, name, reason string, count int) api.Event {
		return api.Event{Seq: seq, FirstSeq: began, Namespace: namespace, Name: name, Reason: reason, Count: count}
	}
	for path, want := range map[string][][]string{
		"":                         {{"ADDED web-edgeA", "ADDED webB", "ADDED dbC"}, {"ADDED dbD"}, {"MODIFIED web-edgeA"}},
		"&namespace=shop":          {{"ADDED web-edgeA", "ADDED dbC"}, {"ADDED dbD"}, {"MODIFIED web-edgeA"}},
		"&name=web":                {{"ADDED web-edgeA", "ADDED webB"}, {"MODIFIED web-edgeA"}},
		"&name=web&namespace=shop": {{"ADDED web-edgeA"}, {"MODIFIED web-edgeA"}},
		"&name=none":               {nil},
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				k := &world{events: []api.Event{
					event(1, 1, "shop", "web-edge", "A", 3), event(2, 2, "other", "web", "B", 1), event(3, 3, "shop", "db", "C", 1),
				}}
				w := watch(t, answering(t, k.server()), "/v1/events?watch=true"+path)
				w.tells(want[0]...)
				for _, next := range []api.Event{event(4, 5, "shop", "db", "D", 2), event(1, 6, "shop", "web-edge", "A", 4)} {
					k.set(func(k *world) { k.events = slices.Concat(k.events, []api.Event{next}) })
					k.Notify()
					time.Sleep(2 * gatherTime)
				}
				for _, lines := range want[1:] {
					w.tells(lines...)
				}
			})
		})
	}
}
