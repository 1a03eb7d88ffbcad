package object

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	authentication "k8s.io/api/authentication/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/kube"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeServer serves lists and watches of single objects, and issues tokens, as an API server
// does.
type fakeServer struct {
	*httptest.Server

	mu      sync.Mutex
	history []fakeEvent
	// changed is closed with every change, and replaced by a new channel.
	changed chan struct{}
	// down makes the server refuse every request. refused is the number of refused requests.
	down    bool
	refused int
	// requests are the paths and names of list requests. open has the number of open watches,
	// by path and name.
	requests []string
	open     map[string]int
	// tokens is the number of tokens issued. life is how long a token is valid.
	tokens int
	life   time.Duration
	now    func() time.Time
	// hold, if set, holds requests for tokens back until it is closed.
	hold chan struct{}
}

// fakeEvent is a change. Its position in the history follows from its resourceVersion.
type fakeEvent struct {
	path, name string
	Type       string         `json:"type"`
	Object     map[string]any `json:"object"`
}

func (s *fakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	down := s.down
	if down {
		s.refused++
	}
	s.mu.Unlock()
	q := r.URL.Query()
	name, named := strings.CutPrefix(q.Get("fieldSelector"), "metadata.name=")
	switch {
	case down:
		answer(w, http.StatusServiceUnavailable, metav1.Status{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Message: "down for a while", Code: http.StatusServiceUnavailable,
		})
	case r.Method == http.MethodPost:
		s.token(w, r)
	case !named && !strings.HasSuffix(r.URL.Path, "/services"):
		http.Error(w, "lists more than one object", http.StatusForbidden)
	case q.Get("watch") != "":
		s.watch(w, r, name)
	default:
		s.list(w, r.URL.Path, name)
	}
}

func (s *fakeServer) list(w http.ResponseWriter, path, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, path+" "+name)
	kind, version := kindAt(path)
	there := map[string]any{}
	for _, e := range s.history {
		if e.path != path || name != "" && e.name != name {
			continue
		}
		if delete(there, e.name); e.Type != "DELETED" {
			there[e.name] = e.Object
		}
	}
	items := slices.AppendSeq([]any{}, maps.Values(there))
	answer(w, http.StatusOK, map[string]any{
		"apiVersion": version, "kind": kind + "List", "items": items, "metadata": map[string]any{"resourceVersion": strconv.Itoa(len(s.history) + 1)},
	})
}

// kindAt returns kind and API version of the objects at a path.
func kindAt(path string) (kind, version string) {
	return map[string]string{"configmaps": "ConfigMap", "secrets": "Secret", "services": "Service", "runtimeclasses": "RuntimeClass"}[path[strings.LastIndexByte(path, '/')+1:]],
		map[bool]string{true: "node.k8s.io/v1", false: "v1"}[strings.Contains(path, "node.k8s.io")]
}

func (s *fakeServer) watch(w http.ResponseWriter, r *http.Request, name string) {
	from, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	at := r.URL.Path + " " + name
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[at]++
	defer func() { s.open[at]-- }()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	for sent := from - 1; ; {
		for ; sent < len(s.history); sent++ {
			if e := s.history[sent]; e.path == r.URL.Path && (name == "" || e.name == name) {
				_ = json.NewEncoder(w).Encode(e)
			}
		}
		w.(http.Flusher).Flush()
		if s.down {
			return
		}
		changed := s.changed
		s.mu.Unlock()
		select {
		case <-changed:
		case <-r.Context().Done():
		}
		s.mu.Lock()
		if r.Context().Err() != nil {
			return
		}
	}
}

func (s *fakeServer) token(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	hold := s.hold
	s.mu.Unlock()
	if hold != nil {
		<-hold
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens++
	answer(w, http.StatusCreated, &authentication.TokenRequest{
		TypeMeta: metav1.TypeMeta{APIVersion: "authentication.k8s.io/v1", Kind: "TokenRequest"},
		Spec:     authentication.TokenRequestSpec{ExpirationSeconds: new(int64(s.life / time.Second))},
		Status:   authentication.TokenRequestStatus{Token: fmt.Sprint(r.URL.Path, " ", s.tokens), ExpirationTimestamp: metav1.NewTime(s.now().Add(s.life))},
	})
}

func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}

// set adds or changes an object, or deletes it if object is nil.
func (s *fakeServer) set(path, name string, object map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := fakeEvent{path: path, name: name, Type: "MODIFIED", Object: object}
	if object == nil {
		e.Type, e.Object = "DELETED", map[string]any{}
	}
	e.Object["kind"], e.Object["apiVersion"] = kindAt(path)
	e.Object["metadata"] = map[string]any{"name": name, "resourceVersion": strconv.Itoa(len(s.history) + 2)}
	s.history = append(s.history, e)
	close(s.changed)
	s.changed = make(chan struct{})
}

// turn makes the server refuse or accept requests from now on.
func (s *fakeServer) turn(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
	close(s.changed)
	s.changed = make(chan struct{})
}

// hasRefused reports whether the server has refused more than one request. If it has, the
// client has read the answer to the first one.
func (s *fakeServer) hasRefused() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused > 1
}

// watched returns the number of open watches of an object.
func (s *fakeServer) watched(path, name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[path+" "+name]
}

// rig is a Objects with its server and a clock that the test moves.
type rig struct {
	*Objects
	server *fakeServer
	// stop ends Run. It is also called when the test ends.
	stop func()

	mu      sync.Mutex
	now     time.Time
	changes map[types.UID]int
}

func newRig(t *testing.T) *rig {
	t.Helper()
	return newRigOn(t, nil, nil)
}

// newRigOn is newRig with the server of another rig, or a new one if it is nil, and with a
// disk, or none if it is nil.
func newRigOn(t *testing.T, server *fakeServer, on Disk) *rig {
	t.Helper()
	r := &rig{now: time.Now(), changes: map[types.UID]int{}, server: server}
	if server == nil {
		r.server = &fakeServer{changed: make(chan struct{}), open: map[string]int{}, life: time.Hour, now: r.clock}
		r.server.Server = httptest.NewServer(r.server)
		t.Cleanup(r.server.Close)
	}
	client, err := kube.New(kube.Config{Server: r.server.URL})
	if err != nil {
		t.Fatal(err)
	}
	r.Objects = New(Config{Client: client, Disk: on, Dir: "/objects", Key: testKey(t, "a"), Changed: r.changed, Logger: slog.New(slog.DiscardHandler), Now: r.clock})
	r.patience = 300 * time.Millisecond
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { r.Run(ctx) })
	r.stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
		client.Close()
	})
	t.Cleanup(r.stop)
	return r
}

// testKey returns a key that depends on the name.
func testKey(t *testing.T, name string) *Key {
	t.Helper()
	key, err := NewKey([]byte(strings.Repeat(name, MinKeyFile)))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (r *rig) clock() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

func (r *rig) advance(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = r.now.Add(d)
}

func (r *rig) changed(uid types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes[uid]++
}

func (r *rig) changesOf(uid types.UID) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changes[uid]
}

func newPod(name string) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid-" + name)},
		Spec:       v1.PodSpec{ServiceAccountName: "clerk"},
	}
}

// eventually waits until got returns want.
func eventually[T comparable](t *testing.T, what string, want T, got func() T) {
	t.Helper()
	var is T
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if is = got(); is == want {
			return
		}
	}
	t.Fatalf("%s: got %v, want %v", what, is, want)
}
