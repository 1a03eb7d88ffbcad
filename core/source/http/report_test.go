package http

import (
	nethttp "net/http"
	"strings"
	"testing"
)

// logged returns the log since the last call, one line per message.
func (r *reader) logged() []string {
	text := strings.ReplaceAll(r.log.String(), r.url, "URL")
	r.log.Reset()
	return strings.FieldsFunc(text, func(c rune) bool { return c == '\n' })
}

func TestReadingsThatFailAreLogged(t *testing.T) {
	t.Parallel()
	srv := newServer(t, plain)
	r := newReader(t, srv.URL)
	const (
		failed = ` msg="reading failed; what was read last stays in force" err="URL: answered 500 Internal Server Error"`
		quiet  = `level=WARN msg="further failures are logged at level debug until a reading succeeds"`
	)
	for range 2 {
		srv.set(status(500, ""))
		for _, want := range [][]string{
			{"level=WARN" + failed},
			{"level=WARN" + failed},
			{"level=WARN" + failed, quiet},
			{"level=DEBUG" + failed},
			{"level=DEBUG" + failed},
		} {
			r.read(t)
			same(t, "log", want, r.logged())
		}
		srv.setText(manifestOf("a", "i"))
		r.good(t)
		same(t, "log of the recovery", []string{`level=INFO msg="readings succeed again" failed=5`}, r.logged())
		r.good(t)
		same(t, "log after it", nil, r.logged())
	}
}

func TestABadDocumentIsReportedEveryTimeItIsRead(t *testing.T) {
	t.Parallel()
	const (
		message = ` msg="documents are bad; their last valid versions stay in force" count=`
		quiet   = `level=WARN msg="the same bad documents are logged at level debug from now on"`
	)
	first := func(n string) string { return message + n + ` err="URL:7` + unknown + `"` }
	for name, headers := range map[string][]string{
		"where the body is the same": nil,
		"where it is unchanged":      {"ETag", `"1"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := newServer(t, plain)
			r := newReader(t, srv.URL)
			srv.set(tagged(bad("a"), headers...))
			for _, want := range [][]string{
				{"level=WARN" + first("1")},
				{"level=WARN" + first("1")},
				{"level=WARN" + first("1"), quiet},
				{"level=DEBUG" + first("1")},
			} {
				r.good(t)
				same(t, "log", want, r.logged())
			}
			same(t, "deliveries", []string{"apply\n#0 :7" + unknown + allBad}, r.news())

			// After a failure, the bad document is logged again.
			srv.set(status(500, ""))
			r.read(t)
			srv.set(tagged(bad("a"), headers...))
			r.logged()
			r.good(t)
			same(t, "log after a failure", []string{
				`level=INFO msg="readings succeed again" failed=1`, "level=DEBUG" + first("1"),
			}, r.logged())

			// Other bad documents are logged as a warning.
			srv.setText(bad("a") + "---\n" + bad("b") + "---\n" + manifestOf("c", "i"))
			r.good(t)
			same(t, "log of others", []string{"level=WARN" + first("2")}, r.logged())

			srv.set(tagged(manifestOf("a", "i"), headers...))
			r.good(t)
			same(t, "log of the recovery", []string{`level=INFO msg="all documents are valid again" readings=6`}, r.logged())
			r.good(t)
			same(t, "log after it", nil, r.logged())
		})
	}
}

func TestTheDocumentThatHoldsTheOthersIsNotCounted(t *testing.T) {
	t.Parallel()
	srv := newServer(t, plain)
	r := newReader(t, srv.URL)
	srv.setText(manifestOf("a", "i") + "---\n" + broken)
	r.good(t)
	same(t, "log", []string{
		`level=WARN msg="documents are bad; their last valid versions stay in force" count=1 err="URL:9` + unparsed + `"`,
	}, r.logged())
}

func TestNoSecretIsLogged(t *testing.T) {
	t.Parallel()
	srv := newServer(t, plain)
	headers := place(t, "headers", "Authorization: geheim\n")
	r := newReader(t, srv.URL, func(c *Config) { c.HeaderFile = headers })
	for _, answer := range []nethttp.HandlerFunc{status(401, ""), redirectTo(302, "ftp://a:geheim@h/?geheim#geheim"), redirectTo(302, "/?geheim")} {
		srv.set(answer)
		r.read(t)
	}
	if text := strings.Join(append(r.logged(), r.health), "\n"); strings.Contains(text, "geheim") {
		t.Errorf("a secret shows:\n%s", text)
	}
}
