//go:build e2e

package cluster

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// faulty is a proxy between a node and its server that can answer wrongly in the server's place.
type faulty struct {
	*httptest.Server
	proxy *httputil.ReverseProxy

	mu sync.Mutex
	// wrong answers requests; nil forwards them to the server.
	wrong http.HandlerFunc
	// first are the first successful answers to GET requests other than watches, by path.
	first map[string]*httptest.ResponseRecorder
}

// newFaulty starts the proxy and sends the rig's requests through it.
func newFaulty(t *testing.T, r *rig) *faulty {
	t.Helper()
	target, err := url.Parse("https://" + r.plane.Address())
	must(t, err)
	client, err := tls.LoadX509KeyPair(r.cert, r.key)
	must(t, err)
	serving, err := r.plane.Serving.Server("127.0.0.1")
	must(t, err)
	pair, err := tls.X509KeyPair(serving.Cert, serving.Key)
	must(t, err)
	transport := &http.Transport{TLSClientConfig: &tls.Config{Certificates: []tls.Certificate{client}, InsecureSkipVerify: true}}
	f := &faulty{first: map[string]*httptest.ResponseRecorder{}, proxy: &httputil.ReverseProxy{
		Rewrite:       func(p *httputil.ProxyRequest) { p.SetURL(target) },
		FlushInterval: -1, Transport: transport, ErrorLog: nil,
	}}
	f.Server = httptest.NewUnstartedServer(http.HandlerFunc(f.serve))
	f.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	f.Config.ErrorLog = nil
	f.StartTLS()
	t.Cleanup(func() {
		f.CloseClientConnections()
		f.Close()
		transport.CloseIdleConnections()
	})
	r.server = f.URL
	return f
}

// answer makes all further answers wrong, and closes the open watches.
func (f *faulty) answer(wrong http.HandlerFunc) {
	f.mu.Lock()
	f.wrong = wrong
	f.mu.Unlock()
	f.CloseClientConnections()
}

func (f *faulty) serve(w http.ResponseWriter, req *http.Request) {
	f.mu.Lock()
	wrong := f.wrong
	f.mu.Unlock()
	if wrong != nil {
		wrong(w, req)
		return
	}
	if req.Method != http.MethodGet || req.URL.Query().Has("watch") {
		f.proxy.ServeHTTP(w, req)
		return
	}
	answer := httptest.NewRecorder()
	f.proxy.ServeHTTP(answer, req)
	f.mu.Lock()
	if key := req.URL.Path; f.first[key] == nil && answer.Code == http.StatusOK {
		f.first[key] = answer
	}
	f.mu.Unlock()
	repeat(w, answer)
}

func repeat(w http.ResponseWriter, answer *httptest.ResponseRecorder) {
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

// status returns a handler that refuses requests as an API server does.
func status(code int, reason metav1.StatusReason) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if code == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", "1")
		}
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d,"message":"it says %d"}`, reason, code, code)
	}
}

// half sends only a part of the length that it announces.
func half(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", "1000000")
	_, _ = io.WriteString(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[`)
}

// endless sends an answer that never ends.
func endless(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"kind":"Status","message":"`)
	for chunk := bytes.Repeat([]byte("x"), 1<<20); req.Context().Err() == nil; {
		if _, err := w.Write(chunk); err != nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// old answers with the first answer to the request, and refuses watches because its version is too
// old.
func (f *faulty) old(w http.ResponseWriter, req *http.Request) {
	f.mu.Lock()
	answer := f.first[req.URL.Path]
	f.mu.Unlock()
	switch {
	case req.URL.Query().Has("watch"):
		status(http.StatusGone, metav1.StatusReasonExpired)(w, req)
		return
	case answer == nil || req.Method != http.MethodGet:
		f.proxy.ServeHTTP(w, req)
		return
	}
	repeat(w, answer)
}

// Wrong answers of a server change nothing of what the node runs. Once the server answers
// correctly, all missed changes and statuses arrive.
func TestMember_serverFaults(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(*faulty) http.HandlerFunc{
		"403": func(*faulty) http.HandlerFunc { return status(http.StatusForbidden, metav1.StatusReasonForbidden) },
		"404": func(*faulty) http.HandlerFunc { return status(http.StatusNotFound, metav1.StatusReasonNotFound) },
		"409": func(*faulty) http.HandlerFunc { return status(http.StatusConflict, metav1.StatusReasonConflict) },
		"410": func(*faulty) http.HandlerFunc { return status(http.StatusGone, metav1.StatusReasonExpired) },
		"429": func(*faulty) http.HandlerFunc {
			return status(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests)
		},
		"500": func(*faulty) http.HandlerFunc {
			return status(http.StatusInternalServerError, metav1.StatusReasonInternalError)
		},
		"half":    func(*faulty) http.HandlerFunc { return half },
		"endless": func(*faulty) http.HandlerFunc { return endless },
		"no JSON": func(*faulty) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }
		},
		"old": func(f *faulty) http.HandlerFunc { return f.old },
		"no content": func(*faulty) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, shared(t))
			f := newFaulty(t, r)
			m := r.member(t)
			eventually(t, v1.ConditionTrue, func() v1.ConditionStatus { return ready(r.getNode(t)) })
			r.add(t, "web")
			r.run(t)
			r.converges(t)
			p := r.listed(t)[r.space+"/web"]
			m.pods.set(p, v1.PodPending, true)
			m.Changed(p.UID)
			eventually(t, v1.PodPending, func() v1.PodPhase { return r.listed(t)[r.space+"/web"].Status.Phase })

			f.answer(fault(f))
			m.pods.set(p, v1.PodRunning, true)
			m.Changed(p.UID)
			time.Sleep(3 * time.Second)
			if n := len(r.sink.versions()); n != 1 {
				t.Errorf("%d pods while the server is not itself, want 1", n)
			}
			f.answer(nil)
			r.label(t, "web", "2")
			eventually(t, v1.PodRunning, func() v1.PodPhase { return r.listed(t)[r.space+"/web"].Status.Phase })
			r.converges(t)
			if there := r.getNode(t); ready(there) != v1.ConditionTrue {
				t.Errorf("the node is %+v", there.Status.Conditions)
			}
		})
	}
}
