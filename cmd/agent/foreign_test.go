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
	"unicode"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/config/reload"
	"github.com/wardlet/wardlet/core/policy/author"
	"github.com/wardlet/wardlet/core/policy/replay"
	"github.com/wardlet/wardlet/core/preflight"
	"github.com/wardlet/wardlet/core/printable"
)

// foreignTexts are what tenants have put into names, keys, values and messages.
var foreignTexts = []string{
	"red \x1b[31m\x1b]0;title\x07", "a\nforged   row", "a\r\tb", "C1 \u009b31m\u0085", "bidi \u202eevil\u2066\u200f\u061c",
	"ends \u2028\u2029", "blank \u2800\u3164\u00a0\u200b", "\ufeff\u00ad", "byte \x9b\xff", "del \x7f\x00", "tag \U000e0041", "\n\n\nwardlet: forged",
	"ordinary", `\u202e \x1b stays`, "{{.}} %s %d",
}

// FuzzOutput fills every text of every answer of the agent, and of all that commands
// print of files, with the same text, and runs every command. None may print more than
// lines of visible characters, or another number of lines than for an ordinary text.
func FuzzOutput(f *testing.F) {
	for _, s := range foreignTexts {
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
			checkVisible(t, what, got)
			checkRows(t, what, got, expected[what])
		}
		socket := answering(t, s)
		for _, kind := range foreignKinds {
			checkObjects(t, socket, kind)
		}
	})
}

// foreignOutputs are all that is printed in lines where every text is s.
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

// foreignKinds are what `get` shows.
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

// foreignCommands ask the agent and print lines.
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

// foreignPrinters print what commands read of files, plugins and the runtime.
var foreignPrinters = map[string]func(a *app, s string) error{
	"check": func(a *app, s string) error {
		a.printFinding(preflight.Finding{Level: preflight.LevelWarn, Subject: s, Message: s})
		return nil
	},
	"policy run": func(a *app, s string) error {
		a.printRun(filled[*author.PolicyRun](s))
		return nil
	},
	"policy test": func(a *app, s string) error {
		a.printTest(filled[*author.TestResult](s), true)
		return nil
	},
	"policy bench": func(a *app, s string) error {
		a.printBench(filled[*author.Bench](s), 1)
		return nil
	},
	"policy lint": func(a *app, s string) error {
		a.printLint(filled[*lintReport](s))
		return nil
	},
	"policy inspect": func(a *app, s string) error {
		a.printReport(&report{Size: 1, SHA256: s, Contents: filled[*author.ModuleContents](s)})
		return nil
	},
	"policy diff": func(a *app, s string) error {
		a.printDiff(filled[*diffReport](s))
		return nil
	},
	"policy replay": func(a *app, s string) error {
		for _, outcome := range []string{replay.ReplayDifferent, replay.ReplayLost} {
			x := filled[*replay.Replayed](s)
			x.Outcome = outcome
			a.printReplayed(x)
		}
		a.printDamaged([]string{s})
		return nil
	},
	"policy export": func(a *app, s string) error {
		a.printLeftOut(filled[*replay.Replayed](s))
		return (&faultList{}).errOf([]string{s})
	},
	"a refused set":    func(_ *app, s string) error { return refusal(errors.Join(author.InFile(s, errors.New("x")))) },
	"a signed set":     func(_ *app, s string) error { return reasons("x", author.InFile(s, errors.New("x"))) },
	"a bad document":   func(_ *app, s string) error { return &api.DocumentError{File: s, Line: 1, Err: errors.New(s)} },
	"a failed command": func(_ *app, s string) error { return errors.New(s) },
}

func (l *faultList) errOf(ids []string) error {
	l.missing(ids)
	return l.err()
}

// printed is what a printer and the error of its command come to.
func printed(show func(*app, string) error, s string) string {
	var out bytes.Buffer
	a := &app{out: printable.Writer{W: &out}, errOut: printable.Writer{W: &out}, now: func() time.Time { return noon }}
	if err := show(a, s); err != nil {
		a.printError(err)
	}
	return out.String()
}

// checkVisible fails for what is more than lines of visible characters.
func checkVisible(t *testing.T, of, text string) {
	t.Helper()
	for _, r := range text {
		if r != '\n' && (!unicode.IsPrint(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)) {
			t.Errorf("%s prints %U: %q", of, r, text)
			return
		}
	}
}

// checkRows fails where a foreign text makes a line, or a row of a table.
func checkRows(t *testing.T, of, got, ordinary string) {
	t.Helper()
	outermost := func(text string) (n int) {
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(line, " ") {
				n++
			}
		}
		return n
	}
	if n, want := outermost(got), outermost(ordinary); n != want {
		t.Errorf("%s prints %d lines, of an ordinary text %d:\n%s\nordinary:\n%s", of, n, want, got, ordinary)
	}
}

// checkObjects fails where JSON and YAML are not what the agent answered.
func checkObjects(t *testing.T, socket string, kind []string) {
	t.Helper()
	of := strings.Join(kind, " ")
	var asJSON, asYAML any
	printed := executed(t, socket, append(slices.Clip(kind), "-o", "json"))
	checkVisible(t, of, printed)
	if err := json.Unmarshal([]byte(printed), &asJSON); err != nil {
		t.Errorf("%s -o json: %v of %s", of, err, printed)
	}
	printed = executed(t, socket, append(slices.Clip(kind), "-o", "yaml"))
	checkVisible(t, of, printed)
	if err := yaml.Unmarshal([]byte(printed), &asYAML); err != nil {
		t.Errorf("%s -o yaml: %v of %s", of, err, printed)
	}
	if !reflect.DeepEqual(asJSON, asYAML) {
		t.Errorf("%s: JSON and YAML differ:\n%#v\n%#v", of, asJSON, asYAML)
	}
}

// executed runs one command line and returns all that it prints.
func executed(tb testing.TB, socket string, args []string) string {
	tb.Helper()
	var out bytes.Buffer
	a := &app{out: &out, errOut: &out, now: func() time.Time { return noon }, poll: time.Hour}
	a.execute(tb.Context(), append(slices.Clip(args), "--socket", socket))
	return out.String()
}

// answering is the socket of an agent whose answers have s for every text.
func answering(tb testing.TB, s string) (socket string) {
	tb.Helper()
	answers := map[string]any{
		"/v1/pods": filled[v1.PodList](s), "/v1/waiting": filled[[]api.Waiting](s), "/v1/updates": filled[[]api.WaitingUpdate](s),
		"/v1/sources": filled[[]api.SourceState](s), "/v1/conflicts": filled[[]api.Conflict](s), "/v1/events": filled[[]api.Event](s),
		"/v1/policies": filled[[]api.PolicySet](s), "/v1/decisions": filled[[]api.Decision](s), "/v1/explain": filled[api.Timeline](s),
		"/v1/version": filled[api.Version](s), "/v1/release": filled[[]api.WaitingUpdate](s),
		"/v1/reload": filled[reload.Outcome](s),
	}
	for _, order := range []string{"reload", "retry", "rollback", "confirm"} {
		answers["/v1/policies/"+order] = filled[api.PolicyOutcome](s)
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
		if r.FormValue("watch") != "" { // it ends, and says why
			var one any = filled[api.Event](s)
			if r.URL.Path == "/v1/pods" {
				one = filled[v1.Pod](s)
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

// mostDepth is how deep a value is filled.
const mostDepth = 12

// filled is a T in which every text is s, every list near the root has two elements, and
// every other list and every map one. Nothing but the API server's own types nests deeper than is filled.
func filled[T any](s string) T {
	var v T
	fill(reflect.ValueOf(&v).Elem(), s, mostDepth)
	return v
}

func fill(v reflect.Value, s string, depth int) {
	switch x := v.Addr().Interface().(type) {
	case *time.Time:
		*x = noon
		return
	case *metav1.Time:
		*x = metav1.NewTime(noon)
		return
	case *json.RawMessage:
		*x, _ = json.Marshal(s)
		return
	case *metav1.TypeMeta, *metav1.MicroTime, *metav1.FieldsV1, *[]byte:
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(s)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(1)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(1)
	case reflect.Pointer:
		if depth > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), s, depth-1)
		}
	case reflect.Slice:
		if depth > 0 {
			n := 1
			if depth > mostDepth-4 {
				n = 2
			}
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				fill(v.Index(i), s, depth-1)
			}
		}
	case reflect.Map:
		if depth > 0 {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(key, s, depth-1)
			fill(value, s, depth-1)
			v.Set(reflect.MakeMap(v.Type()))
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), s, depth-1)
			}
		}
	default: // interfaces and the like hold nothing
	}
}

func TestHanging_linesAreIndentedOnce(t *testing.T) {
	t.Parallel()
	if got, want := hanging("a\nb\n  c"), "a\n  b\n  c"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
