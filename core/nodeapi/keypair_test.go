package nodeapi

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/test/cluster/pki"
)

// TestKeyPair_log replaces the files while connections arrive. Each fault is logged once, and its
// end is logged once.
func TestKeyPair_log(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	authority, err := pki.New("serving")
	must(t, err)
	end := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	pair, err := authority.ServerUntil(end, "127.0.0.1")
	must(t, err)
	longer, err := authority.ServerUntil(end.Add(time.Hour), "127.0.0.1")
	must(t, err)
	good := map[string]string{"cert": string(pair.Cert), "key": string(pair.Key), "ca": string(authority.PEM)}
	log := &strings.Builder{}
	now := end.Add(-time.Minute)
	k := &keyPair{
		cert: filepath.Join(dir, "cert"), key: filepath.Join(dir, "key"), ca: filepath.Join(dir, "ca"),
		log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}})),
		now: func() time.Time { return now },
	}
	const (
		unread = `level=WARN msg="files of the node's API cannot be used; those read before are" err=`
		read   = `level=INFO msg="files of the node's API can be used again"`
		over   = `level=WARN msg="the certificate of the node's API is not valid" err="certificate DIR/cert: expired at END; renew it"`
	)
	for _, step := range []struct {
		name  string
		files map[string]string // the files to write; an empty text removes the file
		now   time.Time         // the zero value stands for the time of the step before
		want  []string
	}{
		{name: "good files", files: good},
		{name: "garbage as a certificate", files: map[string]string{"cert": "garbage"}, want: []string{
			unread + `"certificate DIR/cert with the key DIR/key: tls: failed to find any PEM data in certificate input; write both anew, as PEM"`,
		}},
		{name: "no authority either", files: map[string]string{"ca": ""}, want: []string{unread + `"client authority: open DIR/ca: no such file or directory"`}},
		{name: "the same files again", files: good, want: []string{read}},
		{name: "the certificate expires", now: end.Add(time.Second), want: []string{over}},
		{name: "and garbage comes", files: map[string]string{"key": "garbage"}, want: []string{
			unread + `"certificate DIR/cert with the key DIR/key: tls: failed to find any PEM data in key input; write both anew, as PEM"`,
		}},
		{name: "it is renewed", files: map[string]string{"cert": string(longer.Cert), "key": string(longer.Key)}, want: []string{
			read, `level=INFO msg="the certificate of the node's API is valid again"`,
		}},
	} {
		for name, text := range step.files {
			path := filepath.Join(dir, name)
			if text == "" {
				must(t, os.Remove(path))
			} else {
				must(t, os.WriteFile(path, []byte(text), 0o600))
			}
		}
		if !step.now.IsZero() {
			now = step.now
		}
		log.Reset()
		for range 3 {
			if config, err := k.config(nil); err != nil || len(config.Certificates) != 1 {
				t.Fatalf("%s: nothing to serve with: %v", step.name, err)
			}
		}
		words := strings.NewReplacer(dir, "DIR", end.Format(time.RFC3339), "END")
		if diff := cmp.Diff(strings.Join(step.want, "\n"), strings.TrimSpace(words.Replace(log.String()))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
}
