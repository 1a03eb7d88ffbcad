package pod

import (
	"os"
	"strings"
	"testing"
)

func TestImageNamesAreCompleted(t *testing.T) {
	t.Parallel()
	digest := "@sha256:" + strings.Repeat("0a", 32)
	for in, want := range map[string]string{
		"busybox":                            "busybox:latest",
		"busybox:1.36":                       "busybox:1.36",
		"busybox" + digest:                   "busybox" + digest,
		"busybox:1" + digest:                 "busybox:1" + digest,
		"library/busy_box":                   "library/busy_box:latest",
		"a/b-c/d.e/f__g":                     "a/b-c/d.e/f__g:latest",
		"registry.example/app":               "registry.example/app:latest",
		"registry.example:5000/app":          "registry.example:5000/app:latest",
		"localhost:5000/app:V_1.2-x":         "localhost:5000/app:V_1.2-x",
		"REGISTRY.example/app:1":             "REGISTRY.example/app:1",
		"[2001:db8::1]:5000/app":             "[2001:db8::1]:5000/app:latest",
		"127.0.0.1:41234/library/app:1":      "127.0.0.1:41234/library/app:1",
		"sha256:" + strings.Repeat("0a", 32): "sha256:" + strings.Repeat("0a", 32),
	} {
		got, err := CompleteImage(in)
		if err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", in, got, err, want)
		}
	}
}

func TestImageNamesAreRefused(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"", " ", "App", "app:", "app:la test", "app@", "app@sha256:00", "/app", "app/", "a//b", "app:1:2",
		"http://registry.example/app", "-app", "app-", "a..b", "registry.example:port/app", "app:" + strings.Repeat("t", 129),
		"registry.example/" + strings.Repeat("a", 256), "app\n",
	} {
		if got, err := CompleteImage(in); err == nil {
			t.Errorf("%q is taken as %q", in, got)
		}
	}
}

// The second column of the table is the name that containerd reads, or "-" if containerd refuses
// the name. test/parity writes and checks the table.
func TestCompleteImage_takesWhatContainerdTakes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../plugins/examples/testdata/references.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for line := range strings.Lines(string(text)) {
		name, want, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			continue // a comment
		}
		lines++
		if got, err := CompleteImage(name); (err == nil) != (want != "-") {
			t.Errorf("%s: %q, %v; containerd reads %s", name, got, err, want)
		}
	}
	if lines < 200 {
		t.Errorf("the table has only %d lines", lines)
	}
}

func TestImageRepository_isContainerds(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../plugins/examples/testdata/references.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		name, want, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			continue // a comment
		}
		got, err := ImageRepository(name)
		if want == "-" {
			if err == nil {
				t.Errorf("%s: %s, want an error", name, got)
			}
			continue
		}
		want, _, _ = strings.Cut(want, "@")
		if colon := strings.LastIndexByte(want, ':'); colon > strings.LastIndexByte(want, '/') {
			want = want[:colon]
		}
		if err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", name, got, err, want)
		}
	}
}

func TestCompleteImage_saysWhatIsWrongWithADigest(t *testing.T) {
	t.Parallel()
	hex := strings.Repeat("0a", 32)
	for _, digest := range []string{
		"", "sha256:" + hex[1:], "sha256:" + hex + "0", "sha256:" + hex[:32], "sha256:" + strings.ToUpper(hex), "SHA256:" + hex, "sha512:" + hex,
		"md5:" + hex[:32], "foo:" + hex, hex,
	} {
		_, err := CompleteImage("registry.example/web:1@" + digest)
		if err == nil || !strings.Contains(err.Error(), "after the @ must come sha256: and 64 hexadecimal digits") {
			t.Errorf("%q: %v", digest, err)
		}
	}
}

func FuzzCompleteImage(f *testing.F) {
	f.Add("registry.example:5000/a/b:1")
	f.Add("app@sha256:" + strings.Repeat("0a", 32))
	f.Add("[::1]:1/x")
	f.Fuzz(func(t *testing.T, in string) {
		once, err := CompleteImage(in)
		if err != nil {
			return
		}
		if again, err := CompleteImage(once); err != nil || again != once {
			t.Errorf("%q gives %q, which gives %q, %v", in, once, again, err)
		}
	})
}
