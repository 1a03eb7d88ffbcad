package nodeapi

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"
	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"github.com/wardlet/wardlet/core/kube"
	"github.com/wardlet/wardlet/test/cluster/pki"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// apiServer knows the token "good". It permits everything to the user "reader" and the group
// "system:masters", and nothing to other users.
type apiServer struct {
	mu     sync.Mutex
	asked  []string
	broken bool
}

func (a *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.broken {
		http.Error(w, "broken", http.StatusInternalServerError)
		return
	}
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(authentication.SchemeGroupVersion, &authentication.TokenReview{})
	scheme.AddKnownTypes(authorization.SchemeGroupVersion, &authorization.SubjectAccessReview{})
	body, _ := io.ReadAll(r.Body)
	object, _, err := serializer.NewCodecFactory(scheme).UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	switch o := object.(type) {
	case *authentication.TokenReview:
		a.asked = append(a.asked, "token")
		o.Kind, o.APIVersion = "TokenReview", "authentication.k8s.io/v1"
		o.Status.Authenticated = o.Spec.Token == "good" || o.Spec.Token == "weak"
		o.Status.User = authentication.UserInfo{Username: map[string]string{"good": "reader", "weak": "nobody"}[o.Spec.Token]}
	case *authorization.SubjectAccessReview:
		of := o.Spec.ResourceAttributes
		a.asked = append(a.asked, fmt.Sprintf("%s %s/%s of %s", of.Verb, of.Resource, of.Subresource, of.Name))
		o.Kind, o.APIVersion = "SubjectAccessReview", "authorization.k8s.io/v1"
		o.Status.Allowed = o.Spec.User == "reader" || len(o.Spec.Groups) > 0 && o.Spec.Groups[0] == "system:masters"
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(object)
}

// node is a server of the node's API with one pod.
type node struct {
	t       *testing.T
	api     *apiServer
	dir     string
	clients *pki.Authority
	serving *pki.Authority
	server  *Server
	address string
	// streams is the address at which the runtime streams programs, nil if the runtime runs none.
	streams *url.URL
	// end stops the server and waits for it.
	end func()
}

func (n *node) PodList() *v1.PodList {
	running := v1.ContainerStatus{Name: "main", ContainerID: "containerd://c1", State: v1.ContainerState{Running: &v1.ContainerStateRunning{}}}
	return &v1.PodList{Items: []v1.Pod{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "u1"},
		Spec:       v1.PodSpec{Containers: []v1.Container{{Name: "main", Env: []v1.EnvVar{{Name: "TOKEN", Value: "hush"}}}, {Name: "side"}}},
		Status: v1.PodStatus{ContainerStatuses: []v1.ContainerStatus{
			running, {Name: "side", State: v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}},
		}},
	}}}
}

func (n *node) running() *v1.PodList {
	return &v1.PodList{Items: []v1.Pod{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "u1"}, Spec: v1.PodSpec{Containers: []v1.Container{{Name: "main", Image: "web:1"}}},
	}}}
}

func (n *node) checkpoint(_ context.Context, id, path string, timeout time.Duration) error {
	if timeout > time.Minute {
		return errors.New("the runtime has no such patience")
	}
	return os.WriteFile(path, []byte(id), 0o600)
}

func (n *node) LogPath(_ context.Context, id string) (string, error) {
	if id != "c1" {
		return "", errors.New("unknown container")
	}
	return filepath.Join(n.dir, "log"), nil
}

func (n *node) Runs(*v1.Pod, string) bool { return false }

func (n *node) ExecURL(context.Context, string, *Exec) (*url.URL, error) {
	if n.streams != nil {
		return n.streams, nil
	}
	return nil, errors.New("the runtime runs nothing here")
}

func (n *node) AttachURL(_ context.Context, id string, what *Exec) (*url.URL, error) {
	if n.streams != nil {
		return n.streams, nil
	}
	return nil, fmt.Errorf("the runtime attaches nobody to %s with %+v", id, *what)
}

func (n *node) PortForwardURL(_ context.Context, p *v1.Pod, ports []int32) (*url.URL, error) {
	if n.streams != nil {
		return n.streams, nil
	}
	return nil, fmt.Errorf("the runtime forwards no ports %v of %s", ports, p.UID)
}

func newNode(t *testing.T, changes ...func(*Config)) *node {
	t.Helper()
	n := &node{t: t, api: &apiServer{}, dir: t.TempDir()}
	server := httptest.NewServer(n.api)
	t.Cleanup(server.Close)
	client, err := kube.New(kube.Config{Server: server.URL})
	must(t, err)
	t.Cleanup(client.Close)
	n.clients, err = pki.New("clients")
	must(t, err)
	n.serving, err = pki.New("serving")
	must(t, err)
	pair, err := n.serving.Server("127.0.0.1")
	must(t, err)
	for name, text := range map[string][]byte{
		"cert": pair.Cert, "key": pair.Key, "ca": n.clients.PEM,
		"log": []byte("2026-01-02T03:04:05Z stdout F one\n2026-01-02T03:04:06Z stderr F two\n"),
	} {
		must(t, os.WriteFile(filepath.Join(n.dir, name), text, 0o600))
	}
	must(t, os.Mkdir(filepath.Join(n.dir, "var"), 0o700))
	must(t, os.WriteFile(filepath.Join(n.dir, "var", "service.log"), []byte("started\nstopped\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(n.dir, "journal"), []byte("#!/bin/sh\necho \"$@\"\n"), 0o700))
	n.address = freeAddress(t)
	cfg := Config{
		Listen: n.address, Node: "edge", CertFile: filepath.Join(n.dir, "cert"), KeyFile: filepath.Join(n.dir, "key"), ClientCAFile: filepath.Join(n.dir, "ca"),
		Client: client, Pods: n, Containers: n, Running: n.running, Checkpoint: n.checkpoint, Health: func() error { return nil }, Logger: slog.New(slog.DiscardHandler), Now: time.Now,
		Probes:  prometheus.NewGauge(prometheus.GaugeOpts{Name: "probe_metric"}),
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "a_metric 1\n") }), // the text of the metrics has its own tests
		Stats:   measured{}, NodeLogs: &NodeLogs{Dir: filepath.Join(n.dir, "var"), Journal: filepath.Join(n.dir, "journal")}, CheckpointDir: filepath.Join(n.dir, "checkpoints"),
		Configz: func() *KubeletConfiguration {
			return &KubeletConfiguration{TypeMeta: metav1.TypeMeta{Kind: "KubeletConfiguration"}, StaticPodPath: "/manifests"}
		},
	}
	for _, change := range changes {
		change(&cfg)
	}
	n.server = New(cfg)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { n.server.Run(ctx) })
	n.end = func() { cancel(); running.Wait() }
	t.Cleanup(n.end)
	for _, address := range []string{cfg.Listen, cfg.ReadOnlyListen, cfg.HealthzListen} {
		if address != "" {
			awaitListener(t, address)
		}
	}
	return n
}

func freeAddress(t *testing.T) string {
	t.Helper()
	probe, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer probe.Close()
	return probe.Addr().String()
}

func awaitListener(t *testing.T, address string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		c, err := net.Dial("tcp", address)
		if err == nil {
			_ = c.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// caller is a client with its credentials.
type caller struct {
	token string
	cert  *tls.Certificate
}

// ask returns the status of the answer and its text. Without a connection, the status is 0 and the
// text is the error.
func (n *node) ask(who caller, method, path string) (int, string) {
	n.t.Helper()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(n.serving.PEM)
	config := &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	if who.cert != nil {
		// The certificate is sent whatever authorities the server names.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return who.cert, nil }
	}
	transport := &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(n.t.Context(), method, "https://"+n.address+path, http.NoBody)
	must(n.t, err)
	if who.token != "" {
		req.Header.Set("Authorization", "Bearer "+who.token)
	}
	answer, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must(n.t, err)
	return answer.StatusCode, string(text)
}

func (n *node) client(a *pki.Authority, name string, groups ...string) *tls.Certificate {
	n.t.Helper()
	pair, err := a.Client(name, groups...)
	must(n.t, err)
	cert, err := tls.X509KeyPair(pair.Cert, pair.Key)
	must(n.t, err)
	return &cert
}

// reached has a request for each route and the answer to a client with the right. A route without a
// row fails the test.
var reached = map[string]struct {
	path string
	want int
	text string
	// right is the right for which the API server is asked.
	right string
}{
	"GET /healthz":         {"/healthz", 200, "ok", "get nodes/healthz of edge"},
	"GET /healthz/{check}": {"/healthz/syncloop", 200, "ok", "get nodes/healthz of edge"},
	"GET /pods":            {"/pods", 200, `"name":"web"`, "get nodes/pods of edge"},
	"GET /pods/{$}":        {"/pods/", 200, `"name":"web"`, "get nodes/pods of edge"},
	"GET /runningpods/{$}": {"/runningpods/", 200, `"image":"web:1"`, "get nodes/pods of edge"},
	"GET /logs/{path...}":  {"/logs/service.log", 200, "started\nstopped\n", "get nodes/log of edge"},
	"POST /checkpoint/{namespace}/{pod}/{container}": {"/checkpoint/shop/web/main?timeout=5", 200, "/checkpoints/checkpoint-web_shop-main-", "create nodes/checkpoint of edge"},
	"GET /metrics":          {"/metrics", 200, "a_metric 1", "get nodes/metrics of edge"},
	"GET /metrics/resource": {"/metrics/resource", 200, "resource_metric 1", "get nodes/metrics of edge"},
	"GET /metrics/cadvisor": {"/metrics/cadvisor", 200, "cadvisor_metric 1", "get nodes/metrics of edge"},
	"GET /metrics/probes":   {"/metrics/probes", 200, "probe_metric 0", "get nodes/metrics of edge"},
	"GET /metrics/slis":     {"/metrics/slis", 200, `kubernetes_healthcheck{name="syncloop",type="healthz"} 1`, "get nodes/metrics of edge"},
	"GET /stats/summary":    {"/stats/summary", 200, `"nodeName":"edge"`, "get nodes/stats of edge"},
	"GET /configz":          {"/configz", 200, `{"kubeletconfig":{"kind":"KubeletConfiguration","staticPodPath":"/manifests",`, "get nodes/configz of edge"},
	"GET /containerLogs/{namespace}/{pod}/{container}": {"/containerLogs/shop/web/main", 200, "one\ntwo\n", "get nodes/proxy of edge"},
	"GET /exec/{namespace}/{pod}/{container}":          {"/exec/shop/web/main?command=a&output=1", 500, "the runtime runs nothing here", "get nodes/proxy of edge"},
	"POST /exec/{namespace}/{pod}/{container}":         {"/exec/shop/web/main?command=a&output=1", 500, "the runtime runs nothing here", "create nodes/proxy of edge"},
	"GET /exec/{namespace}/{pod}/{uid}/{container}":    {"/exec/shop/web/u1/main?command=a&output=1", 500, "the runtime runs nothing here", "get nodes/proxy of edge"},
	"POST /exec/{namespace}/{pod}/{uid}/{container}":   {"/exec/shop/web/u2/main?command=a&output=1", 404, "does not exist", "create nodes/proxy of edge"},
	"GET /attach/{namespace}/{pod}/{container}":        {"/attach/shop/web/main?stdin=1", 500, "attaches nobody to c1", "get nodes/proxy of edge"},
	"POST /attach/{namespace}/{pod}/{container}":       {"/attach/shop/web/main?stdin=1", 500, "attaches nobody to c1", "create nodes/proxy of edge"},
	"GET /attach/{namespace}/{pod}/{uid}/{container}":  {"/attach/shop/web/u1/main?stdin=1", 500, "attaches nobody to c1", "get nodes/proxy of edge"},
	"POST /attach/{namespace}/{pod}/{uid}/{container}": {"/attach/shop/web/u2/main?stdin=1", 404, "does not exist", "create nodes/proxy of edge"},
	"GET /portForward/{namespace}/{pod}":               {"/portForward/shop/web", 500, "forwards no ports [] of u1", "get nodes/proxy of edge"},
	"POST /portForward/{namespace}/{pod}":              {"/portForward/shop/web", 500, "forwards no ports [] of u1", "create nodes/proxy of edge"},
	"GET /portForward/{namespace}/{pod}/{uid}":         {"/portForward/shop/web/u1", 500, "forwards no ports [] of u1", "get nodes/proxy of edge"},
	"POST /portForward/{namespace}/{pod}/{uid}":        {"/portForward/shop/web/u2", 404, "does not exist", "create nodes/proxy of edge"},
}

func TestServer_routes(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	other, err := pki.New("other")
	must(t, err)
	expired, err := n.clients.Expired("admin", "system:masters")
	must(t, err)
	late, err := tls.X509KeyPair(expired.Cert, expired.Key)
	must(t, err)
	for _, r := range routes {
		row, ok := reached[r.pattern]
		if !ok {
			t.Errorf("no row for %s", r.pattern)
			continue
		}
		method, _, _ := strings.Cut(r.pattern, " ")
		for name, test := range map[string]struct {
			who  caller
			want int
		}{
			"nobody":                        {caller{}, 401},
			"an unknown token":              {caller{token: "bad"}, 401},
			"a certificate of others":       {caller{cert: n.client(other, "admin", "system:masters")}, 401},
			"the same, and a token":         {caller{cert: n.client(other, "nobody"), token: "good"}, row.want},
			"the same, and one without it":  {caller{cert: n.client(other, "admin", "system:masters"), token: "weak"}, 403},
			"a certificate that is over":    {caller{cert: &late}, 401},
			"a token without the right":     {caller{token: "weak"}, 403},
			"a client without the right":    {caller{cert: n.client(n.clients, "nobody")}, 403},
			"a token with the right":        {caller{token: "good"}, row.want},
			"a certificate with the right":  {caller{cert: n.client(n.clients, "admin", "system:masters")}, row.want},
			"the right of another, by name": {caller{cert: n.client(n.clients, "system:masters")}, 403},
		} {
			code, text := n.ask(test.who, method, row.path)
			if code != test.want || code == row.want && !strings.Contains(text, row.text) {
				t.Errorf("%s, %s: %d %.200q, want %d %q", r.pattern, name, code, text, test.want, row.text)
			}
		}
		if asked := strings.Join(n.api.asked, ", "); !strings.Contains(asked, row.right) {
			t.Errorf("%s: the API server was asked about %s, want %s", r.pattern, asked, row.right)
		}
	}
	if code, _ := n.ask(caller{}, "GET", "/nothing"); code != 401 {
		t.Errorf("what is not served, for nobody: %d", code)
	}
	if code, _ := n.ask(caller{token: "good"}, "GET", "/nothing"); code != 404 {
		t.Errorf("what is not served, for one who may: %d", code)
	}
}

// While the API server cannot be asked, users that it permitted a moment ago are still served. All
// others are refused.
func TestServer_apiServerAway(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	known := caller{token: "good"}
	if code, text := n.ask(known, "GET", "/pods"); code != 200 {
		t.Fatal(code, text)
	}
	n.api.mu.Lock()
	n.api.broken = true
	n.api.mu.Unlock()
	if code, text := n.ask(known, "GET", "/pods"); code != 200 {
		t.Errorf("one that was let through before: %d %s", code, text)
	}
	if code, _ := n.ask(caller{token: "weak"}, "GET", "/pods"); code != 401 {
		t.Errorf("one that nobody knows: %d", code)
	}
	if code, _ := n.ask(caller{cert: n.client(n.clients, "admin", "system:masters")}, "GET", "/pods"); code != 500 {
		t.Errorf("one of whom nobody says what they may: %d", code)
	}
}

func TestContainerLogs(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	for path, want := range map[string]struct {
		code int
		text string
	}{
		"/containerLogs/shop/web/main?tailLines=1":                        {200, "two\n"},
		"/containerLogs/shop/web/main?limitBytes=2":                       {200, "on"},
		"/containerLogs/shop/web/main?stream=Stderr":                      {200, "two\n"},
		"/containerLogs/shop/web/main?timestamps=true&tailLines=1":        {200, "2026-01-02T03:04:06.000000000Z two\n"},
		"/containerLogs/shop/web/main?sinceTime=2026-01-02T03:04:06Z":     {200, "two\n"},
		"/containerLogs/shop/web/main?follow=true":                        {200, "one\ntwo\n"},
		"/containerLogs/shop/web/main?tail=1":                             {200, "two\n"},
		"/containerLogs/shop/web/main?tail=all&tailLines=1":               {200, "one\ntwo\n"},
		"/containerLogs/shop/web/main?tailLines=x":                        {400, "tailLines: want a number"},
		"/containerLogs/shop/web/main?tailLines=-1":                       {422, "tailLines: must be greater"},
		"/containerLogs/shop/web/main?limitBytes=0":                       {422, "limitBytes: must be greater"},
		"/containerLogs/shop/web/main?stream=Other":                       {422, "stream: want All"},
		"/containerLogs/shop/web/main?stream=Stdout&tailLines=1":          {422, "mutually exclusive"},
		"/containerLogs/shop/web/main?sinceSeconds=1&sinceTime=yesterday": {400, "sinceTime: want a time"},
		"/containerLogs/shop/web/main?previous=true":                      {400, `previous terminated container "main" in pod "web" not found`},
		"/containerLogs/shop/web/side":                                    {400, "trying and failing to pull image"},
		"/containerLogs/shop/web/none":                                    {404, `container "none" not found in pod "web"`},
		"/containerLogs/shop/db/main":                                     {404, `pod "db" does not exist`},
	} {
		if code, text := n.ask(caller{token: "good"}, "GET", path); code != want.code || !strings.Contains(text, want.text) {
			t.Errorf("%s: %d %q, want %d %q", path, code, text, want.code, want.text)
		}
	}
}

// Clients that never read delay neither other clients nor the stop of the agent.
func TestServer_clientsThatNeverRead(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	written := make(chan struct{}, 40)
	runtime := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n")
		block := make([]byte, 1<<20)
		for range 64 { // more than the connections can buffer
			if _, err := conn.Write(block); err != nil {
				written <- struct{}{}
				return
			}
		}
	}))
	defer runtime.Close()
	var err error
	n.streams, err = url.Parse(runtime.URL)
	must(t, err)
	log, err := os.OpenFile(filepath.Join(n.dir, "log"), os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	line := "2026-01-02T03:04:07Z stdout F " + strings.Repeat("x", 8<<10) + "\n"
	for range 8 << 10 {
		_, err := io.WriteString(log, line)
		must(t, err)
	}
	must(t, log.Close())

	cert := n.client(n.clients, "admin", "system:masters")
	config := &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{*cert}} //nolint:gosec // whose server it is does not matter here
	for range 20 {
		for _, request := range []string{
			"GET /containerLogs/shop/web/main?follow=true HTTP/1.1\r\nHost: node\r\n\r\n",
			"POST /exec/shop/web/main?command=yes&output=1 HTTP/1.1\r\nHost: node\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n",
			"POST /portForward/shop/web HTTP/1.1\r\nHost: node\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n",
		} {
			conn, err := tls.Dial("tcp", n.address, config)
			must(t, err)
			defer conn.Close()
			_, err = io.WriteString(conn, request)
			must(t, err)
		}
	}
	if code, text := n.ask(caller{token: "good"}, "GET", "/containerLogs/shop/web/main?limitBytes=4"); code != 200 || text != "one\n" {
		t.Errorf("beside them: %d %.100q", code, text)
	}
	began := time.Now()
	n.end()
	if took := time.Since(began); took > 2*endTimeout {
		t.Errorf("the server ended after %v", took)
	}
	<-written
}
