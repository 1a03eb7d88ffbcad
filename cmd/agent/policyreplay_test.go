package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/state"
	"github.com/wardlet/wardlet/test/wasmtest"
)

// decided lets a policy decide about a few pods. The policy denies pods that have a value in a
// field. The function returns the state directory with the records.
func decided(t *testing.T, denies ...string) (dir string) {
	t.Helper()
	if len(denies) == 0 {
		denies = []string{"object.spec.@containers[*].image", "evil"}
	}
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	quiet := slog.New(slog.DiscardHandler)
	policies, dir := t.TempDir(), filepath.Join(t.TempDir(), "state")
	policyDenying(t, policies, "p", denies[0], denies[1])
	d, err := state.Open(dir, quiet)
	ok(err)
	log, err := d.Decisions(map[string]int64{"": 4 << 20})
	ok(err)
	engine, err := wasm.NewEngine(filepath.Join(t.TempDir(), "compiled"), quiet)
	ok(err)
	p := policy.New(policy.Config{
		Dir: policies, DefaultVerdict: api.Allow, Node: "node-1", Kinds: map[string]string{"static": "file"}, Records: log,
		Loader: eval.Sandbox(engine), Logger: quiet, Evaluators: 1,
		Now: time.Now,
	})
	var running sync.WaitGroup
	running.Go(func() { _ = p.Run(t.Context()) })
	if _, err := p.Reload(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	for _, image := range []string{"good", "evil", "fine"} {
		answer := make(chan api.Verdict, 1)
		p.Judge(api.Question{
			Op: api.Add, Origin: api.Origin{Source: "static", Document: image + ".yaml#0"},
			Pod: &v1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: image, Namespace: "shop", UID: types.UID(image), Annotations: map[string]string{pod.AnnotationSource: "static"}},
				Spec:       v1.PodSpec{Containers: []v1.Container{{Name: "c", Image: image, Args: []string{"--password=hunter2"}}}},
			},
		}, func(v api.Verdict) { answer <- v })
		<-answer
	}
	t.Cleanup(func() {
		running.Wait()
		ok(engine.Close())
		ok(log.Close())
		ok(d.Close())
	})
	return dir
}

// policyDenying writes a policy into a directory. The policy denies pods that have a value in a
// field.
func policyDenying(t *testing.T, dir, name, field, value string) {
	t.Helper()
	module := wasmtest.Denying(field, value)
	for file, text := range map[string][]byte{
		name + ".wasm": module,
		name + ".toml": fmt.Appendf(nil, "api = \"wardlet.dev/v1\"\nname = %q\nmodule = %q\nsha256 = \"%x\"\nhooks = [\"admit\"]\n",
			name, name+".wasm", sha256.Sum256(module)),
	} {
		if err := os.WriteFile(filepath.Join(dir, file), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// forged replaces a text in the records and corrects their checksums.
func forged(text []byte, before, after string) []byte {
	var out []byte
	for line := range bytes.Lines(text) {
		if content := bytes.TrimSuffix(line, []byte("\n"))[9:]; bytes.Contains(content, []byte(before)) {
			content = bytes.Replace(content, []byte(before), []byte(after), 1)
			line = fmt.Appendf(nil, "%08x %s\n", crc32.Checksum(content, crc32.MakeTable(crc32.Castagnoli)), content)
		}
		out = append(out, line...)
	}
	return out
}

func TestPolicyReplay(t *testing.T) {
	t.Parallel()
	dir := decided(t)
	golden(t, "policy-replay", wardlet(t.Context(), "policy", "replay", "--state", dir))
	golden(t, "policy-replay", wardlet(t.Context(), "policy", "replay", "--state", dir, "--interpreter"))
	golden(t, "policy-replay-json", wardlet(t.Context(), "policy", "replay", "--state", dir, "-o", "json"))
	golden(t, "policy-replay-one", wardlet(t.Context(), "policy", "replay", "--state", dir, "operator-2"))
	golden(t, "policy-replay-unknown", wardlet(t.Context(), "policy", "replay", "--state", dir, "operator-2", "operator-9"))
	golden(t, "policy-replay-one", wardlet(t.Context(), "policy", "replay", "--state", dir, "operator-2", "operator-2"))
	golden(t, "policy-replay-unknown-json", wardlet(t.Context(), "policy", "replay", "--state", dir, "operator-9", "operator-2", "operator-8", "operator-9", "-o", "json"))
	empty := t.TempDir()
	golden(t, "policy-replay-nothing", wardlet(t.Context(), "policy", "replay", "--state", empty), empty, "DIR")
	golden(t, "policy-replay-output", wardlet(t.Context(), "policy", "replay", "-o", "wide"))
	golden(t, "help-policy-replay", wardlet(t.Context(), "policy", "replay", "--help"))
}

func TestPolicyReplayOfNoRecordIsAFault(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "decisions", "operator"), 0o700); err != nil {
		t.Fatal(err)
	}
	golden(t, "policy-replay-none", wardlet(t.Context(), "policy", "replay", "--state", dir))
}

func TestPolicyReplayOfAPipe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(decided(t))); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "decisions", "policies", "*.gz"))
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if err := errors.Join(os.Remove(file), syscall.Mkfifo(file, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if r := wardlet(t.Context(), "policy", "replay", "--state", dir); !strings.HasSuffix(r, "status 1\n") || strings.Count(r, "its mode is prw") != 3 {
		t.Error(r)
	}
}

func TestPolicyReplayFindsWhatIsNotAsItWas(t *testing.T) {
	t.Parallel()
	dir := decided(t)
	segments, err := filepath.Glob(filepath.Join(dir, "decisions", "operator", "*.log"))
	if err != nil || len(segments) != 1 {
		t.Fatalf("segments %v, %v", segments, err)
	}
	text, err := os.ReadFile(segments[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(text []byte) []byte{
		"policy-replay-damaged": func(text []byte) []byte { return bytes.Replace(text, []byte(`"fine"`), []byte(`"fime"`), 1) },
		"policy-replay-forged":  func(text []byte) []byte { return forged(text, `"answer":"deny"`, `"answer":"hold"`) },
	} {
		if err := os.WriteFile(segments[0], change(bytes.Clone(text)), 0o600); err != nil {
			t.Fatal(err)
		}
		golden(t, name, wardlet(t.Context(), "policy", "replay", "--state", dir))
	}
}
