package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/cmd/agent/internal/clitest"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/config/reload"
	"github.com/wardlet/wardlet/core/preflight"
	"github.com/wardlet/wardlet/core/printable"
)

// FuzzOutput puts one text into every field of the agent's answers and of the files that commands
// print, and runs every command. A command may print only lines of visible characters, and as many
// lines as for an ordinary text.
func FuzzOutput(f *testing.F) {
	for _, s := range clitest.Texts {
		f.Add(s)
	}
	const ordinary = "x"
	expected := map[string]string{}
	for what, show := range foreignOutputs(f, ordinary) {
		expected[what] = show()
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 200 {
			return
		}
		s = "x" + s + "x"
		for what, show := range foreignOutputs(t, s) {
			got := show()
			clitest.CheckVisible(t, what, got)
			clitest.CheckRows(t, what, got, expected[what])
		}
		socket := answering(t, s)
		for _, kind := range foreignKinds {
			checkObjects(t, socket, kind)
		}
	})
}

// foreignOutputs returns a function for each printed output, in which every text is s.
func foreignOutputs(tb testing.TB, s string) map[string]func() string {
	tb.Helper()
	all := map[string]func() string{}
	socket := answering(tb, s)
	for _, args := range foreignCommands {
		all[strings.Join(args, " ")] = func() string { return executed(tb, socket, args) }
	}
	for name, show := range foreignPrinters {
		all[name] = func() string { return printed(show, s) }
	}
	return all
}

// foreignKinds are the commands that print objects of the agent.
var foreignKinds = [][]string{
	{"get", "pods"},
	{"get", "sources"},
	{"get", "conflicts"},
	{"get", "policies"},
	{"get", "decisions"},
	{"get", "events"},
	{"get", "updates"},
	{"explain", "pod", "x/x"},
}

// foreignCommands are the commands that ask the agent and print lines.
var foreignCommands = func() (all [][]string) {
	for _, kind := range foreignKinds {
		all = append(all, kind)
		if kind[0] == "get" {
			all = append(all, append(kind[:2:2], "-o", "wide"), append(kind[:2:2], "-o", "name"), append(kind[:2:2], "--no-headers"), append(kind[:2:2], "nobody"))
		}
	}
	for _, kind := range []string{"pods", "events"} {
		all = append(all, []string{"get", kind, "-w", "-o", "wide"})
	}
	return append(all, []string{"release", "x/x"}, []string{"reload"}, []string{"version"}, []string{"policy", "reload"}, []string{"policy", "retry"},
		[]string{"policy", "rollback"}, []string{"policy", "confirm", "x"})
}()

// foreignPrinters print what commands read from files and the runtime.
var foreignPrinters = map[string]func(a *app, s string) error{
	"check": func(a *app, s string) error {
		a.printFinding(preflight.Finding{Level: preflight.LevelWarn, Subject: s, Message: s})
		return nil
	},
	"a bad document":   func(_ *app, s string) error { return &api.DocumentError{File: s, Line: 1, Err: errors.New(s)} },
	"a failed command": func(_ *app, s string) error { return errors.New(s) },
}

// printed returns what a printer prints, followed by the error of its command.
func printed(show func(*app, string) error, s string) string {
	var out bytes.Buffer
	a := &app{&cli.App{Out: printable.Writer{W: &out}, ErrOut: printable.Writer{W: &out}, Now: func() time.Time { return noon }}}
	if err := show(a, s); err != nil {
		cli.PrintError(&out, err)
	}
	return out.String()
}

// checkObjects fails the test unless the JSON and the YAML output are valid and equal.
func checkObjects(t *testing.T, socket string, kind []string) {
	t.Helper()
	of := strings.Join(kind, " ")
	var asJSON, asYAML any
	printed := executed(t, socket, append(slices.Clip(kind), "-o", "json"))
	clitest.CheckVisible(t, of, printed)
	if err := json.Unmarshal([]byte(printed), &asJSON); err != nil {
		t.Errorf("%s -o json: %v of %s", of, err, printed)
	}
	printed = executed(t, socket, append(slices.Clip(kind), "-o", "yaml"))
	clitest.CheckVisible(t, of, printed)
	if err := yaml.Unmarshal([]byte(printed), &asYAML); err != nil {
		t.Errorf("%s -o yaml: %v of %s", of, err, printed)
	}
	if !reflect.DeepEqual(asJSON, asYAML) {
		t.Errorf("%s: JSON and YAML differ:\n%#v\n%#v", of, asJSON, asYAML)
	}
}

// executed runs a command line and returns its output.
func executed(tb testing.TB, socket string, args []string) string {
	tb.Helper()
	var out bytes.Buffer
	a := &app{&cli.App{Out: &out, ErrOut: &out, Now: func() time.Time { return noon }, Poll: time.Hour}}
	a.execute(tb.Context(), append(slices.Clip(args), "--socket", socket))
	return out.String()
}

// answering returns the socket of an agent whose answers have s in every text.
func answering(tb testing.TB, s string) (socket string) {
	tb.Helper()
	answers := map[string]any{
		"/v1/pods": clitest.Filled[v1.PodList](s), "/v1/waiting": clitest.Filled[[]api.Waiting](s), "/v1/updates": clitest.Filled[[]api.WaitingUpdate](s),
		"/v1/sources": clitest.Filled[[]api.SourceState](s), "/v1/conflicts": clitest.Filled[[]api.Conflict](s), "/v1/events": clitest.Filled[[]api.Event](s),
		"/v1/policies": clitest.Filled[[]api.PolicySet](s), "/v1/decisions": clitest.Filled[[]api.Decision](s), "/v1/explain": clitest.Filled[api.Timeline](s),
		"/v1/version": clitest.Filled[api.Version](s), "/v1/release": clitest.Filled[[]api.WaitingUpdate](s),
		"/v1/reload": clitest.Filled[reload.Outcome](s),
	}
	for _, order := range []string{"reload", "retry", "rollback", "confirm"} {
		answers["/v1/policies/"+order] = clitest.Filled[api.PolicyOutcome](s)
	}
	dir, err := os.MkdirTemp("", "wardlet") //nolint:usetesting // the path of a socket must be short
	if err != nil {
		tb.Fatal(err)
	}
	socket = filepath.Join(dir, "w.sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		tb.Fatal(err)
	}
	ended := make(chan struct{})
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, ok := answers[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusServiceUnavailable)
			answer = map[string]string{"error": s}
		}
		e := json.NewEncoder(w)
		if r.FormValue("watch") != "" { // the watch ends with an error line
			var one any = clitest.Filled[api.Event](s)
			if r.URL.Path == "/v1/pods" {
				one = clitest.Filled[v1.Pod](s)
			}
			for _, line := range []api.WatchLine{{Type: api.WatchAdded, Object: one}, {Type: api.WatchBookmark}, {Type: api.WatchError, Object: s}} {
				_ = e.Encode(line)
			}
			return
		}
		_ = e.Encode(answer)
	})}
	go func() {
		defer close(ended)
		_ = srv.Serve(l)
	}()
	tb.Cleanup(func() {
		srv.Close()
		<-ended
		os.RemoveAll(dir)
	})
	return socket
}
