package http

import (
	"context"
	"errors"
	nethttp "net/http"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/api"
)

const (
	allBad   = "\n#* : no document of the answer can be used; the pods of the last one go on until that is mended"
	held     = ": which pods the answer holds is uncertain; those it held before go on until this is mended"
	broken   = "a: [\n"
	unparsed = ": did not find expected node content"
	unknown  = `: spec.containers[0].imgae: unknown field; did you mean image?`
)

// bad returns the manifest of a pod with an unknown field.
func bad(name string) string {
	return strings.Replace(manifestOf(name, "i"), "image:", "imgae:", 1)
}

func TestWhatIsDelivered(t *testing.T) {
	t.Parallel()
	a, b, sep := manifestOf("a", "i"), manifestOf("b", "i"), "---\n"
	for name, test := range map[string]struct {
		answers []string
		// want are the deliveries, "" for an answer without one. has are the pods at the end,
		// if the deliveries do not show them.
		want []string
		has  []string
	}{
		"each body that is new, as a snapshot": {
			[]string{a, a + sep + b, a + sep + b, b},
			[]string{"replace\n#0 a i", "replace\n#0 a i\n#1 b i", "", "replace\n#0 b i"},
			[]string{"#0 b i"},
		},
		"no pods, where a list says so": {
			[]string{list("i", "a"), list("i")},
			[]string{"replace\n#0.0 a i", "replace"},
			[]string{},
		},
		"a body again after another": {
			[]string{a, b, a},
			[]string{"replace\n#0 a i", "replace\n#0 b i", "replace\n#0 a i"},
			[]string{"#0 a i"},
		},
		"bad documents beside good ones; what is not named is gone": {
			[]string{a + sep + b + sep + manifestOf("c", "i"), bad("a") + sep + b},
			[]string{"replace\n#0 a i\n#1 b i\n#2 c i", "replace\n#0 :7" + unknown + "\n#1 b i"},
			[]string{"#0 a i", "#1 b i"},
		},
		"bad items of a list": {
			[]string{list("i", "a", "b"), strings.Replace(list("i", "a", "b"), "image:", "imgae:", 1)},
			[]string{"replace\n#0.0 a i\n#0.1 b i", "replace\n#0.0 :4" + unknown + "\n#0.1 b i"},
			[]string{"#0.0 a i", "#0.1 b i"},
		},
		"bad pods only, without ending any": {
			[]string{bad("a"), a + sep + b, bad("a"), bad("a")},
			[]string{"apply\n#0 :7" + unknown + allBad, "replace\n#0 a i\n#1 b i", "apply\n#0 :7" + unknown + allBad, ""},
			[]string{"#0 a i", "#1 b i"},
		},
		"good ones beside what cannot be read, without ending any": {
			[]string{a + sep + broken, a + sep + b, manifestOf("a", "j") + sep + broken},
			[]string{
				"apply\n#0 a i\n#1 :9" + unparsed + "\n#* :9" + held,
				"replace\n#0 a i\n#1 b i",
				"apply\n#0 a j\n#1 :9" + unparsed + "\n#* :9" + held,
			},
			[]string{"#0 a j", "#1 b i"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := newServer(t, plain)
			r := newReader(t, srv.URL)
			for i, text := range test.answers {
				srv.setText(text)
				r.good(t)
				same(t, "delivery", test.want[i], strings.Join(r.news(), " and "))
			}
			if test.has != nil {
				same(t, "pods at the end", test.has, r.has())
			}
		})
	}
}

func TestABodyThatIsNoneIsDecodedOnce(t *testing.T) {
	t.Parallel()
	srv := newServer(t, plain)
	r := newReader(t, srv.URL)
	srv.setText(broken)
	first := r.read(t)
	known := r.refused.err
	for range 3 {
		if again := r.read(t); again != first {
			t.Errorf("health %s, at first %s", again, first)
		}
		// Each decoding returns a new error.
		if r.refused.err != known { //nolint:errorlint // the very same value is what is asked for
			t.Error("decoded again")
		}
	}
	if r.failures != 4 {
		t.Errorf("%d failures counted, want 4", r.failures)
	}
}

type failingSink struct{ err error }

func (f failingSink) Replace(context.Context, []api.Document) error         { return f.err }
func (f failingSink) Apply(context.Context, []api.Document, []string) error { return f.err }
func (failingSink) Health(error)                                            {}

func TestRunEndsWithTheErrorOfItsSink(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{"a snapshot": manifestOf("a", "i"), "a difference": bad("a")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := newServer(t, plain)
			srv.setText(body)
			failed := errors.New("failed")
			s := New(Config{Name: "fleet", URL: srv.URL, NodeName: "node", Sink: failingSink{failed}})
			if err := s.Run(t.Context()); !errors.Is(err, failed) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestRunEndsWithoutErrorWhenItIsTold(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(*sink) bool{
		"between readings": func(k *sink) bool { return len(k.has()) == 1 },
		"while it reads":   nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := newServer(t, plain)
			asked := make(chan struct{}, 1)
			srv.set(func(w nethttp.ResponseWriter, r *nethttp.Request) {
				if answer == nil {
					asked <- struct{}{}
					<-r.Context().Done()
					return
				}
				answerWith(w, manifestOf("a", "i"))
			})
			k := &sink{url: srv.URL, holds: map[string]string{}, health: "not told"}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- New(Config{Name: "fleet", URL: srv.URL, NodeName: "node", Sink: k}).Run(ctx) }()
			if answer == nil {
				<-asked
			} else {
				eventually(t, "a delivery", func() bool { return answer(k) })
			}
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("error %v", err)
			}
			if answer == nil && k.health != "not told" {
				t.Errorf("the end counts as a failure: %s", k.health)
			}
		})
	}
}
