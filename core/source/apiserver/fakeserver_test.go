package apiserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	testNode = "node"
	selector = "spec.nodeName=" + testNode
)

// fakeServer serves lists and watches of pods as an API server does: with
// resourceVersions, pages, bookmarks, and a history that can be compacted.
type fakeServer struct {
	*httptest.Server

	mu   sync.Mutex
	wake *sync.Cond
	pods map[string]*v1.Pod
	// history are all events. The version of an event is that of its object.
	history   []fakeEvent
	version   int
	compacted int
	// page is the maximum number of pods in an answer, 0 for no limit.
	page int
	// cluster is the UID of the service default/kubernetes; if it is empty, there is no such
	// service.
	cluster string
	// fault answers in place of the server if it returns true.
	fault func(http.ResponseWriter, *http.Request) bool
	// watches is the number of watches ever opened, and open the number of open ones. Watches
	// with a number up to cutUpTo end, without a proper end if abort is true.
	watches, open, cutUpTo int
	abort                  bool
	// sent is the newest version that a watch has sent. While paused is true, no request is
	// answered.
	sent     int
	paused   bool
	requests []string
}

type fakeEvent struct {
	version int
	Type    string `json:"type"`
	Object  any    `json:"object"`
}

func newFakeServer(t *testing.T, start func(*httptest.Server)) *fakeServer {
	t.Helper()
	s := &fakeServer{pods: map[string]*v1.Pod{}, version: 10}
	s.wake = sync.NewCond(&s.mu)
	s.Server = httptest.NewUnstartedServer(s)
	s.Config.ConnState = func(c net.Conn, state http.ConnState) {
		// The buffers are small, so that the server soon notices a slow reader.
		if tcp, ok := c.(*net.TCPConn); ok && state == http.StateNew {
			_ = tcp.SetWriteBuffer(16 << 10)
		}
	}
	start(s.Server)
	t.Cleanup(func() {
		s.cut(true)
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func (s *fakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	s.mu.Lock()
	for s.paused {
		s.wake.Wait()
	}
	if r.URL.Path == "/api/v1/namespaces/default/services" {
		defer s.mu.Unlock()
		list := v1.ServiceList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceList"}}
		list.ResourceVersion = strconv.Itoa(s.version)
		if s.cluster != "" {
			list.Items = []v1.Service{{ObjectMeta: metav1.ObjectMeta{Name: "kubernetes", UID: types.UID(s.cluster)}}}
		}
		answer(w, http.StatusOK, list)
		return
	}
	s.requests = append(s.requests, fmt.Sprintf("%s %s rv=%s", verb(r), r.URL.Path, q.Get("resourceVersion")))
	fault := s.fault
	s.mu.Unlock()
	if fault != nil && fault(w, r) {
		return
	}
	if r.URL.Path != "/api/v1/pods" || q.Get("fieldSelector") != selector {
		status(w, http.StatusNotFound, metav1.StatusReasonNotFound, "no such thing here")
		return
	}
	if verb(r) == "watch" {
		from, _ := strconv.Atoi(q.Get("resourceVersion"))
		s.watch(w, r, from)
		return
	}
	s.list(w, q.Get("resourceVersion"), q.Get("continue"))
}

func verb(r *http.Request) string {
	if r.URL.Query().Get("watch") == "true" {
		return "watch"
	}
	return "list"
}

func (s *fakeServer) list(w http.ResponseWriter, atLeast, from string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n, _ := strconv.Atoi(atLeast); n > s.version {
		answer(w, http.StatusGatewayTimeout, metav1.Status{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Reason: metav1.StatusReasonTimeout, Code: http.StatusGatewayTimeout,
			Message: "Too large resource version",
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}},
		})
		return
	}
	list := v1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}}
	list.ResourceVersion = strconv.Itoa(s.version)
	for _, key := range slices.Sorted(maps.Keys(s.pods)) {
		if key <= from {
			continue
		}
		if s.page > 0 && len(list.Items) == s.page {
			list.Continue = list.Items[s.page-1].Namespace + "/" + list.Items[s.page-1].Name
			break
		}
		list.Items = append(list.Items, *s.pods[key])
	}
	answer(w, http.StatusOK, list)
}

func (s *fakeServer) watch(w http.ResponseWriter, r *http.Request, from int) {
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-r.Context().Done():
			s.wake.Broadcast()
		case <-stop:
		}
	}()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watches++
	s.open++
	mine := s.watches
	defer func() { s.open-- }()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	flush(w)
	// As in a real server, a watch from a version that does not exist yet waits for it.
	if from < s.compacted {
		s.write(w, fakeEvent{Type: "ERROR", Object: expired()})
		return
	}
	for r.Context().Err() == nil && mine > s.cutUpTo {
		next := slices.IndexFunc(s.history, func(e fakeEvent) bool { return e.version > from })
		if next < 0 {
			s.wake.Wait()
			continue
		}
		from = s.history[next].version
		s.write(w, s.history[next])
		s.sent = max(s.sent, from)
		s.wake.Broadcast()
	}
	if s.abort && mine <= s.cutUpTo {
		panic(http.ErrAbortHandler)
	}
}

// write sends an event without holding the server's lock.
func (s *fakeServer) write(w http.ResponseWriter, e fakeEvent) {
	s.mu.Unlock()
	defer s.mu.Lock()
	_ = json.NewEncoder(w).Encode(e)
	flush(w)
}

func flush(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() }

func expired() metav1.Status {
	return metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
		Reason: metav1.StatusReasonExpired, Code: http.StatusGone, Message: "too old resource version",
	}
}

func status(w http.ResponseWriter, code int32, reason metav1.StatusReason, message string) {
	answer(w, int(code), metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
		Reason: reason, Code: code, Message: message,
	})
}

func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}

// set adds or changes a pod with this name and image.
func (s *fakeServer) set(name, image string, change ...func(*v1.Pod)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	p := &v1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, UID: types.UID("uid-" + name), ResourceVersion: strconv.Itoa(s.version),
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "test"}},
		},
		Spec: v1.PodSpec{NodeName: testNode, Containers: []v1.Container{{Name: "c", Image: image}}},
	}
	for _, f := range change {
		f(p)
	}
	what := "ADDED"
	if s.pods["default/"+name] != nil {
		what = "MODIFIED"
	}
	s.pods["default/"+name] = p
	s.note(what, p)
}

func (s *fakeServer) remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	p := s.pods["default/"+name].DeepCopy()
	p.ResourceVersion = strconv.Itoa(s.version)
	delete(s.pods, "default/"+name)
	s.note("DELETED", p)
}

// bookmark sends a bookmark with a new version to the watches.
func (s *fakeServer) bookmark() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	p := &v1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}
	p.ResourceVersion = strconv.Itoa(s.version)
	s.note("BOOKMARK", p)
}

// tell sends an event whose object is not a pod.
func (s *fakeServer) tell(what string, object any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	s.note(what, object)
}

func (s *fakeServer) note(what string, object any) {
	s.history = append(s.history, fakeEvent{version: s.version, Type: what, Object: object})
	s.wake.Broadcast()
}

// compact removes the history up to now, so that older versions have expired.
func (s *fakeServer) compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	s.compacted = s.version
}

// moveTo makes this a server of another cluster.
func (s *fakeServer) moveTo(cluster string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cluster = cluster
}

// reset makes this a server without pods and history, as one restored from nothing.
func (s *fakeServer) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.pods)
	s.history, s.version, s.compacted = nil, 1, 1
}

// cut ends all watches; if abort is true, without a proper end of the answer.
func (s *fakeServer) cut(abort bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cutUpTo, s.abort = s.watches, abort
	s.wake.Broadcast()
}

// breaks sets fault, which answers requests instead of the server; nil for none.
func (s *fakeServer) breaks(fault func(http.ResponseWriter, *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

func (s *fakeServer) watching() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// opened returns the number of watches opened so far.
func (s *fakeServer) opened() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watches
}

// written returns the newest version that a watch has sent. newest returns the newest version.
func (s *fakeServer) written() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent
}

func (s *fakeServer) newest() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// asked returns the requests so far, without their path.
func (s *fakeServer) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, r := range s.requests {
		all = append(all, strings.Replace(r, "/api/v1/pods ", "", 1))
	}
	return all
}

// cutWith sends a bookmark, ends all watches properly, and calls meanwhile. No watch sends the
// changes that meanwhile makes, and no request is answered until it returns.
func (s *fakeServer) cutWith(meanwhile func()) {
	s.bookmark()
	s.mu.Lock()
	for s.sent < s.version {
		s.wake.Wait()
	}
	s.paused = true
	s.cutUpTo, s.abort = s.watches, false
	s.wake.Broadcast()
	s.mu.Unlock()
	meanwhile()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paused = false
	s.wake.Broadcast()
}
