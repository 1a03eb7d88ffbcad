package handler

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// target returns a container whose port "web" is the port of an address.
func target(t *testing.T, address string) Target {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	number, _ := strconv.Atoi(port)
	return Target{ID: "c1", IP: host, Container: &v1.Container{
		Name: "main", Ports: []v1.ContainerPort{{Name: "web", ContainerPort: int32(number)}}, Env: []v1.EnvVar{{Name: "A", Value: "b"}},
	}}
}

var web = intstr.FromString("web")

func answering(code int, headers map[string]string, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

func TestRunner_probeOverHTTP(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		serve http.HandlerFunc
		tls   bool
		http2 bool
		edit  func(*v1.HTTPGetAction)
		want  Outcome
		// says is a part of the message, for cases that do not compare the whole message.
		says string
	}{
		"200":                           {serve: answering(200, nil, "fine"), want: Outcome{OK: true, Message: "fine"}},
		"399":                           {serve: answering(399, nil, ""), want: Outcome{OK: true, Warning: true, Message: "Probe terminated redirects, Response body: "}},
		"400":                           {serve: answering(400, nil, "no"), want: Outcome{Message: "HTTP probe failed with statuscode: 400"}},
		"500":                           {serve: answering(500, nil, "no"), want: Outcome{Message: "HTTP probe failed with statuscode: 500"}},
		"a redirect to another host":    {serve: answering(302, map[string]string{"Location": "http://192.0.2.1/"}, "moved"), want: Outcome{OK: true, Warning: true, Message: "Probe terminated redirects, Response body: moved"}},
		"a redirect for ever":           {serve: answering(302, map[string]string{"Location": "/"}, ""), says: "stopped after 10 redirects"},
		"a certificate nobody signed":   {tls: true, serve: answering(200, nil, ""), want: Outcome{OK: true}},
		"HTTP where HTTPS is asked for": {serve: answering(200, nil, ""), edit: func(a *v1.HTTPGetAction) { a.Scheme = v1.URISchemeHTTPS }, says: "server gave HTTP response to HTTPS client"},
		"a body without end": {serve: func(w http.ResponseWriter, r *http.Request) {
			for chunk := strings.Repeat("x", 1<<16); r.Context().Err() == nil; {
				if _, err := io.WriteString(w, chunk); err != nil {
					return
				}
			}
		}, want: Outcome{OK: true, Message: strings.Repeat("x", maxOutput)}},
		"headers and a path": {serve: func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, r.URL.String()+" "+r.Host+" "+r.Header.Get("User-Agent")+" "+r.Header.Get("Accept")+" "+r.Header.Get("X-A"))
		}, edit: func(a *v1.HTTPGetAction) {
			a.Path, a.HTTPHeaders = "/health?deep=1", []v1.HTTPHeader{{Name: "Host", Value: "shop"}, {Name: "x-a", Value: "b"}, {Name: "Accept", Value: ""}}
		}, want: Outcome{OK: true, Message: "/health?deep=1 shop agent/1  b"}},
		"an answer of HTTP/2 alone": {tls: true, http2: true, serve: answering(200, nil, "fine"), want: Outcome{OK: true, Message: "fine"}},
		"interim answers": {serve: func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusProcessing)
			_, _ = io.WriteString(w, "fine")
		}, want: Outcome{OK: true, Message: "fine"}},
		"interim answers for ever": {serve: func(w http.ResponseWriter, _ *http.Request) {
			for range 100 {
				w.WriteHeader(http.StatusEarlyHints)
			}
		}, says: "no answer came, only interim ones"},
		"a header without end": {serve: answering(200, map[string]string{"X-Long": strings.Repeat("x", maxHeader)}, ""), says: "the header of the answer is longer than 65536 bytes"},
		"no answer in time":    {serve: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, says: "context deadline exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewUnstartedServer(tc.serve)
			action := &v1.HTTPGetAction{Port: web, Path: "/", Scheme: v1.URISchemeHTTP}
			if s.Config.ErrorLog = nil; tc.tls {
				action.Scheme = v1.URISchemeHTTPS
				if tc.http2 {
					s.EnableHTTP2, s.Config.Protocols = true, new(http.Protocols)
					s.Config.Protocols.SetHTTP2(true)
				}
				s.StartTLS()
			} else {
				s.Start()
			}
			t.Cleanup(s.Close)
			if tc.edit != nil {
				tc.edit(action)
			}
			where, err := url.Parse(s.URL)
			if err != nil {
				t.Fatal(err)
			}
			r := &Runner{Agent: "agent/1"}
			got, err := r.Probe(t.Context(), target(t, where.Host), &v1.Probe{ProbeHandler: v1.ProbeHandler{HTTPGet: action}, TimeoutSeconds: 1})
			if err != nil {
				t.Fatal(err)
			}
			if tc.says != "" {
				if got.OK || !strings.Contains(got.Message, tc.says) {
					t.Errorf("got %+v, want a failure that says %q", got, tc.says)
				}
				return
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRunner_probeOverTCP(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	to := target(t, l.Addr().String())
	probe := &v1.Probe{ProbeHandler: v1.ProbeHandler{TCPSocket: &v1.TCPSocketAction{Port: web}}}
	if got, err := new(Runner).Probe(t.Context(), to, probe); err != nil || !got.OK {
		t.Errorf("of a port that is open: %+v, %v", got, err)
	}
	l.Close()
	if got, err := new(Runner).Probe(t.Context(), to, probe); err != nil || got.OK || !strings.Contains(got.Message, "refused") {
		t.Errorf("of a port that is closed: %+v, %v", got, err)
	}
	probe.TCPSocket.Port = intstr.FromString("nosuch")
	if got, err := new(Runner).Probe(t.Context(), to, probe); err == nil || !strings.Contains(err.Error(), `no port of container main has that name`) {
		t.Errorf("of a port that is none: %+v, %v", got, err)
	}
}

func TestRunner_probeOverGRPC(t *testing.T) {
	t.Parallel()
	serve := func(register func(*grpc.Server)) string {
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		s := grpc.NewServer()
		register(s)
		go func() { _ = s.Serve(l) }()
		t.Cleanup(s.Stop)
		return l.Addr().String()
	}
	well := serve(func(s *grpc.Server) {
		h := health.NewServer()
		h.SetServingStatus("sick", grpc_health_v1.HealthCheckResponse_NOT_SERVING)
		grpc_health_v1.RegisterHealthServer(s, h)
	})
	without := serve(func(*grpc.Server) {})
	for name, tc := range map[string]struct {
		address, service string
		ok               bool
		says             string
	}{
		"a server that serves":         {well, "", true, "service healthy"},
		"a service that does not":      {well, "sick", false, `service unhealthy (responded with "NOT_SERVING")`},
		"a service that is not there":  {well, "nosuch", false, "unknown service"},
		"a server without such health": {without, "", false, "does not implement the grpc health protocol"},
		"nothing":                      {"127.0.0.1:1", "", false, "refused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := target(t, tc.address)
			probe := &v1.Probe{ProbeHandler: v1.ProbeHandler{GRPC: &v1.GRPCAction{Port: to.Container.Ports[0].ContainerPort, Service: &tc.service}}, TimeoutSeconds: 5}
			got, err := new(Runner).Probe(t.Context(), to, probe)
			if err != nil || got.OK != tc.ok || !strings.Contains(got.Message, tc.says) {
				t.Errorf("got %+v, %v; want %v and %q", got, err, tc.ok, tc.says)
			}
		})
	}
}

func TestRunner_exec(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		output string
		code   int32
		err    error
		want   Outcome
		// hook is a part of the error that a hook returns.
		hook string
	}{
		"ends well":                {output: "fine", want: Outcome{OK: true, Message: "fine"}},
		"fails":                    {output: "no\n", code: 3, want: Outcome{Message: "no\n"}, hook: "exit code 3: no"},
		"takes too long":           {err: ErrTimeout, want: Outcome{Message: "command timed out after 7s"}, hook: "timed out"},
		"says more than one wants": {output: strings.Repeat("x", 1<<20), want: Outcome{OK: true, Message: strings.Repeat("x", maxOutput)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var commands [][]string
			r := &Runner{
				Exec: func(_ context.Context, id string, command []string, _ time.Duration) ([]byte, int32, error) {
					commands = append(commands, append([]string{id}, command...))
					return []byte(tc.output), tc.code, tc.err
				},
				Expand: func(command []string, env []v1.EnvVar) []string {
					return []string{strings.ReplaceAll(command[0], "$("+env[0].Name+")", env[0].Value)}
				},
			}
			to, action := target(t, "10.0.0.1:1"), &v1.ExecAction{Command: []string{"$(A)"}}
			got, err := r.Probe(t.Context(), to, &v1.Probe{ProbeHandler: v1.ProbeHandler{Exec: action}, TimeoutSeconds: 7})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			said := ""
			if err := r.Hook(t.Context(), to, &v1.LifecycleHandler{Exec: action}); err != nil {
				said = err.Error()
			}
			if said != tc.hook {
				t.Errorf("the hook says %q, want %q", said, tc.hook)
			}
			if diff := cmp.Diff([][]string{{"c1", "b"}, {"c1", "$(A)"}}, commands); diff != "" {
				t.Errorf("commands (-want +got):\n%s", diff)
			}
		})
	}
}

// If the runtime does not answer, Probe returns an error and no outcome.
func TestRunner_execThatCannotBe(t *testing.T) {
	t.Parallel()
	away := errors.New("the runtime is away")
	r := &Runner{
		Exec:   func(context.Context, string, []string, time.Duration) ([]byte, int32, error) { return nil, 0, away },
		Expand: func(command []string, _ []v1.EnvVar) []string { return command },
	}
	_, err := r.Probe(t.Context(), target(t, "10.0.0.1:1"), &v1.Probe{ProbeHandler: v1.ProbeHandler{Exec: &v1.ExecAction{Command: []string{"a"}}}})
	if !errors.Is(err, away) {
		t.Errorf("got %v", err)
	}
}

func TestRunner_hookOverHTTP(t *testing.T) {
	t.Parallel()
	var got []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Authorization")+r.Header.Get("X-A"))
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(s.Close)
	to := target(t, strings.TrimPrefix(s.URL, "http://"))
	headers := []v1.HTTPHeader{{Name: "Authorization", Value: "secret"}, {Name: "X-A", Value: "b"}}
	for _, scheme := range []v1.URIScheme{v1.URISchemeHTTP, v1.URISchemeHTTPS} {
		if err := new(Runner).Hook(t.Context(), to, &v1.LifecycleHandler{HTTPGet: &v1.HTTPGetAction{Port: web, Scheme: scheme, HTTPHeaders: headers}}); err != nil {
			t.Errorf("%s: %v", scheme, err)
		}
	}
	if diff := cmp.Diff([]string{"secretb", "b"}, got); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	s.Close()
	if err := new(Runner).Hook(t.Context(), to, &v1.LifecycleHandler{HTTPGet: &v1.HTTPGetAction{Port: web}}); err == nil {
		t.Error("nothing answers, and the hook has not failed")
	}
}

func TestRunner_hookWhoseAnswerIsCutOff(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(answering(200, map[string]string{"Content-Length": "100"}, "short"))
	t.Cleanup(s.Close)
	hook := &v1.LifecycleHandler{HTTPGet: &v1.HTTPGetAction{Port: web}}
	if err := new(Runner).Hook(t.Context(), target(t, s.Listener.Addr().String()), hook); err != nil {
		t.Errorf("%v; want the answer to be enough", err)
	}
}

func TestRunner_hookOfNoKind(t *testing.T) {
	t.Parallel()
	if err := new(Runner).Hook(t.Context(), Target{}, &v1.LifecycleHandler{TCPSocket: &v1.TCPSocketAction{}}); err == nil {
		t.Error("a hook over TCP, which a kubelet has not either")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := new(Runner).Hook(ctx, Target{}, &v1.LifecycleHandler{Sleep: &v1.SleepAction{Seconds: 60}}); !errors.Is(err, context.Canceled) {
		t.Errorf("a sleep that is ended: %v", err)
	}
}
