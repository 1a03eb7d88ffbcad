package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/kube"
)

// pods are the running pods of a node by UID.
type pods map[types.UID]*v1.Pod

func (p pods) All() []*v1.Pod                      { return slices.Collect(maps.Values(p)) }
func (p pods) Get(uid types.UID) *v1.Pod           { return p[uid] }
func (p pods) Status(*v1.Pod) (v1.PodStatus, bool) { return v1.PodStatus{Phase: v1.PodRunning}, true }
func (p pods) Adopt(types.UID, *v1.PodStatus)      {}
func (p pods) MayRun(types.UID) bool               { return true }
func (p pods) Started(types.UID) bool              { return true }
func (p pods) Begun(types.UID) bool                { return true }
func (p pods) Finished(types.UID) bool             { return false }

func podsNamed(names ...string) pods {
	all := pods{}
	for _, name := range names {
		all[types.UID(name)] = &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name)}}
	}
	return all
}

// serve starts a server with the handler h and returns a client of that server.
func serve(t *testing.T, h http.HandlerFunc) *kube.Client {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	client, err := kube.New(kube.Config{Server: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// answer writes an object, or a metav1.Status for an error.
func answer(w http.ResponseWriter, code int, object any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(object)
}

func refuse(w http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	answer(w, code, &metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
	})
}

// newMember returns a member whose node is named n.
func newMember(client *kube.Client, p Pods, log *slog.Logger) *Member {
	return &Member{
		cfg: Config{Client: client, Pods: p, Logger: log, Now: time.Now}, name: "n", log: log,
		met: map[types.UID]time.Time{}, paused: map[types.UID]bool{}, owed: owed{uids: map[types.UID]bool{}, wake: make(chan struct{}, 1)},
	}
}

// The Node authorizer forgets a deleted pod. It then forbids the node to read the pod, instead of
// reporting that the pod does not exist.
func TestReportPod_gone(t *testing.T) {
	t.Parallel()
	const cannot = `pods "web" is forbidden: User "system:node:n" cannot get resource "pods" in API group "" in the namespace "shop": `
	for name, test := range map[string]struct {
		code    int
		reason  metav1.StatusReason
		message string
		gone    bool
	}{
		"the pod is not there":               {404, metav1.StatusReasonNotFound, `pods "web" not found`, true},
		"the pod is not on this node":        {403, metav1.StatusReasonForbidden, cannot + "no relationship found between node 'n' and this object", true},
		"the credentials are another node's": {403, metav1.StatusReasonForbidden, cannot + "no relationship found between node 'other' and this object", false},
		"the credentials are no node's":      {403, metav1.StatusReasonForbidden, cannot + "RBAC: not allowed", false},
		"the server is not well":             {503, metav1.StatusReasonServiceUnavailable, "no relationship found between node 'n' and this object", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := serve(t, func(w http.ResponseWriter, _ *http.Request) { refuse(w, test.code, test.reason, test.message) })
			all := podsNamed("web")
			m := newMember(client, all, slog.New(slog.DiscardHandler))
			if err := m.reportPod(t.Context(), report{all["web"], all["web"]}); (err == nil) != test.gone {
				t.Errorf("got %v, want the pod to be gone: %t", err, test.gone)
			}
		})
	}
}

// lines is a log that keeps its lines.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, strings.TrimSpace(string(text)))
	return len(text), nil
}

// containing returns how many lines have a text.
func (l *lines) containing(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, line := range l.all {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// An outage is logged once for each reason, whichever pod is tried first.
func TestReportPods_logsAnOutageOnce(t *testing.T) {
	t.Parallel()
	const names, rounds = 6, 3
	var requests int // guarded by mu
	var mu sync.Mutex
	enough := make(chan struct{})
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		pod := path.Base(r.URL.Path)
		if pod == "pod-0" {
			refuse(w, 403, metav1.StatusReasonForbidden, fmt.Sprintf("pods %q is forbidden: no", pod))
		} else {
			refuse(w, 503, metav1.StatusReasonServiceUnavailable, fmt.Sprintf("the server is currently unable to handle the request (get pods %s)", pod))
		}
		mu.Lock()
		defer mu.Unlock()
		if requests++; requests == names*rounds {
			close(enough)
		}
	})
	all := pods{}
	for i := range names {
		maps.Copy(all, podsNamed(fmt.Sprint("pod-", i)))
	}
	var out lines
	m := newMember(client, all, slog.New(slog.NewTextHandler(&out, nil)))
	for uid := range all {
		m.owed.add(uid)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { m.reportPods(ctx) })
	<-enough
	cancel()
	running.Wait()
	if refused, away := out.containing("is forbidden"), out.containing("currently unable"); refused != 1 || away != 1 || len(out.all) != 2 {
		t.Errorf("logged:\n%s", strings.Join(out.all, "\n"))
	}
}

// A pod whose status is always refused is logged once, even while the statuses of other pods are in
// order.
func TestReportPods_logsOnePodOnce(t *testing.T) {
	t.Parallel()
	others := make(chan struct{})
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if path.Base(r.URL.Path) == "bad" {
			refuse(w, 422, metav1.StatusReasonInvalid, "no")
			return
		}
		refuse(w, 404, metav1.StatusReasonNotFound, "not found")
		others <- struct{}{}
	})
	all := podsNamed("bad", "good")
	var out lines
	m := newMember(client, all, slog.New(slog.NewTextHandler(&out, nil)))
	m.owed.add("bad")
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { m.reportPods(ctx) })
	for range 4 {
		m.owed.add("good")
		<-others
	}
	cancel()
	running.Wait()
	if len(out.all) != 1 || out.containing("level=WARN") != 1 {
		t.Errorf("logged:\n%s", strings.Join(out.all, "\n"))
	}
}

// The status of a pod does not wait for that of another one, which is always refused.
func TestReportPods_onePodDoesNotDelayOthers(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 10)
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		name := path.Base(r.URL.Path)
		asked <- name
		if name == "bad" {
			refuse(w, 500, metav1.StatusReasonInternalError, "failed calling webhook")
			return
		}
		refuse(w, 404, metav1.StatusReasonNotFound, "not found")
	})
	m := newMember(client, podsNamed("bad", "good"), slog.New(slog.DiscardHandler))
	m.owed.add("bad")
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { m.reportPods(ctx) })
	for range 4 { // the next attempt follows after more than a second
		<-asked
	}
	m.owed.add("good")
	if got := <-asked; got != "good" {
		t.Errorf("the next request is about %s", got)
	}
	cancel()
	running.Wait()
}

// said are pods that all have the status st, which a test changes.
type said struct {
	pods

	mu sync.Mutex
	st v1.PodStatus
}

func (s *said) Status(*v1.Pod) (v1.PodStatus, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.st, true
}

func (s *said) say(message string, initialized v1.ConditionStatus) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.st = v1.PodStatus{Phase: v1.PodPending, Message: message, Conditions: []v1.PodCondition{{Type: v1.PodInitialized, Status: initialized}}}
}

// While init containers are at work, status changes that come shortly after each other are combined
// in one write. Other changes are written at once.
func TestReportPods_pausesWhileAPodInitializes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		initialized v1.ConditionStatus // as of the second change
		want        []string
	}{
		"init containers are at work": {v1.ConditionFalse, []string{"one", "three"}},
		"the pod is initialized":      {v1.ConditionTrue, []string{"one", "two", "three"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &said{pods: podsNamed("web")}
			wrote := make(chan string, 10)
			client := serve(t, func(w http.ResponseWriter, r *http.Request) {
				there := s.pods["web"].DeepCopy()
				if r.Method == http.MethodPatch {
					var patch v1.Pod
					if err := json.NewDecoder(r.Body).Decode(&patch); err != nil {
						t.Error(err)
					}
					wrote <- patch.Status.Message
				}
				answer(w, http.StatusOK, there)
			})
			m := newMember(client, s, slog.New(slog.DiscardHandler))
			ctx, cancel := context.WithCancel(t.Context())
			var running sync.WaitGroup
			running.Go(func() { m.reportPods(ctx) })
			s.say("one", v1.ConditionFalse)
			m.Changed("web")
			got := []string{<-wrote}
			s.say("two", test.initialized)
			m.Changed("web")
			if test.initialized == v1.ConditionTrue {
				got = append(got, <-wrote)
			} else {
				time.Sleep(initPause / 5)
			}
			s.say("three", test.initialized)
			m.Changed("web")
			got = append(got, <-wrote)
			cancel()
			running.Wait()
			close(wrote)
			for more := range wrote {
				got = append(got, more)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("written (-want +got):\n%s", diff)
			}
		})
	}
}

// finishing are pods without running containers. They are finished when their status is "last".
type finishing struct {
	*said
}

func (finishing) MayRun(types.UID) bool { return false }

func (f finishing) Finished(types.UID) bool {
	st, _ := f.Status(nil)
	return st.Message == "last"
}

// A pod that finishes while a status is being written keeps its object until its last status is
// written.
func TestReportPod_lastStatusBeforeTheObjectGoes(t *testing.T) {
	t.Parallel()
	s := &said{pods: podsNamed("web")}
	web := s.pods["web"]
	web.DeletionTimestamp = new(metav1.Now())
	say := func(message string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.st = v1.PodStatus{Phase: v1.PodFailed, Message: message}
	}
	var got []string
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodPatch:
			var patch v1.Pod
			if err := json.NewDecoder(r.Body).Decode(&patch); err != nil {
				t.Error(err)
			}
			web.Status.Phase, web.Status.Message = v1.PodFailed, patch.Status.Message
			got = append(got, "PATCH "+patch.Status.Message)
			say("last")
		case http.MethodDelete:
			got = append(got, "DELETE")
		}
		answer(w, http.StatusOK, web)
	})
	m := newMember(client, finishing{s}, slog.New(slog.DiscardHandler))
	say("stopped")
	for range 2 {
		if err := m.reportPod(t.Context(), report{web, web}); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"PATCH stopped", "PATCH last", "DELETE"}; !slices.Equal(got, want) {
		t.Errorf("the server got %v, want %v", got, want)
	}
}

// phased are pods with a phase.
type phased struct {
	pods
	phase map[types.UID]v1.PodPhase
}

func (p phased) Status(of *v1.Pod) (v1.PodStatus, bool) {
	return v1.PodStatus{Phase: p.phase[of.UID]}, true
}

func TestFinalFirst(t *testing.T) {
	t.Parallel()
	m := newMember(nil, phased{podsNamed("a", "b", "c", "d"), map[types.UID]v1.PodPhase{"a": v1.PodRunning, "b": v1.PodFailed, "c": v1.PodPending, "d": v1.PodSucceeded}}, slog.New(slog.DiscardHandler))
	got := m.finalFirst(map[types.UID]bool{"a": true, "b": true, "c": true, "d": true, "mirrored": true})
	slices.Sort(got[:2])
	slices.Sort(got[2:])
	if want := []types.UID{"b", "d", "a", "c", "mirrored"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
