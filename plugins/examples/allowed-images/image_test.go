package main

import (
	"os"
	"strings"
	"testing"
)

var sha256 = "sha256:" + strings.Repeat("0123456789abcdef", 4)

func TestReferencesAreReadAsRuntimesDo(t *testing.T) {
	for reference, want := range map[string]string{
		"nginx":                      "docker.io/library/nginx:latest",
		"nginx:1.27":                 "docker.io/library/nginx:1.27",
		"docker.io/nginx":            "docker.io/library/nginx:latest",
		"index.docker.io/nginx":      "docker.io/library/nginx:latest",
		"library/nginx":              "docker.io/library/nginx:latest",
		"team/app":                   "docker.io/team/app:latest",
		"docker.io/team/app:1":       "docker.io/team/app:1",
		"localhost/app":              "localhost/app:latest",
		"localhost:5000/app":         "localhost:5000/app:latest",
		"localhost:5000":             "docker.io/library/localhost:5000",
		"registry.example/app":       "registry.example/app:latest",
		"registry.example:443/a/b:1": "registry.example:443/a/b:1",
		"[::1]:5000/app":             "[::1]:5000/app:latest",
		"[fe80::1]/app:1":            "[fe80::1]/app:1",
		"a.b/c__d-e---f.g/h_i":       "a.b/c__d-e---f.g/h_i:latest",
		"nginx@" + sha256:            "docker.io/library/nginx@" + sha256,
		"r.example/a:1@" + sha256:    "r.example/a@" + sha256,
		"deadbeef":                   "docker.io/library/deadbeef:latest",
		"sha256/app":                 "docker.io/sha256/app:latest",
		"r.example/sha256:1":         "r.example/sha256:1",
	} {
		got, err := parseImage(reference)
		if err != nil || got.String() != want {
			t.Errorf("%s: got %s, %v, want %s", reference, got.String(), err, want)
		}
	}
}

func TestWhatIsNoReferenceIsAnError(t *testing.T) {
	for _, reference := range []string{
		"", " ", "nginx ", " nginx", "nginx\n", "ngi nx", "Nginx", "REGISTRY/app", "team/App", "registry.example/App", "nginx:", ":1", "nginx:1:2",
		"nginx:-1", "nginx:.1", "nginx:ü", "nginx:" + strings.Repeat("1", maxTag+1), "nginx@", "nginx@sha256", "nginx@sha256:12",
		"nginx@" + strings.ToUpper(sha256), "nginx@md5:" + strings.Repeat("0", 32), "nginx@sha256:" + strings.Repeat("0", 63) + "g",
		"nginx@" + sha256 + "@" + sha256, "nginx@" + sha256 + ":1", "@" + sha256,
		"registry.example//app", "registry.example/", "/app", "registry.example/../app", "registry.example/./app", "registry.example/app/",
		"registry.example/.app", "registry.example/app.", "registry.example/a..b", "registry.example/a___b", "registry.example/a._b",
		"registry.example./app", ".registry.example/app", "registry..example/app", "-registry.example/app", "registry-.example/app",
		"registry.example:/app", "registry.example:x/app", "registry.example:80:80/app", "registry_x.example/app",
		"user@registry.example/app", "user:pass@registry.example/app", "https://registry.example/app", "docker://nginx",
		"registry.example\\app", "registry.example%2fapp", "registry.example/app?x", "registry.example/app#x", "régistry.example/app",
		"[::1/app", "::1]/app", "[]/app", "[::1]x/app", "[gg::]/app", "r.example/" + strings.Repeat("a", maxPath+1), strings.Repeat("a", maxPath-7),
		"DOCKER.IO/nginx", "Docker.Io/library/nginx", "INDEX.DOCKER.IO/nginx", "Registry.Example/app", "registry.example:5000/App", "LOCALHOST/app", "Localhost:5000/app", "[FE80::1]/app:1",
		strings.Repeat("0123456789abcdef", 4), sha256, "sha256:0123", "sha512:1", "sha256@" + sha256, "sha256",
	} {
		if got, err := parseImage(reference); err == nil {
			t.Errorf("%q was read as %s", reference, got.String())
		}
	}
}

// TestParseImage_readsReferencesAsContainerd checks every line of a table. test/parity
// compares the same table with containerd's package for references.
func TestParseImage_readsReferencesAsContainerd(t *testing.T) {
	text, err := os.ReadFile("../testdata/references.txt")
	if err != nil {
		t.Fatal(err)
	}
	taken := 0
	for line := range strings.Lines(string(text)) {
		reference, want, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			continue // a comment
		}
		got, err := parseImage(reference)
		registry, _, _ := strings.Cut(want, "/")
		switch {
		case err == nil && got.String() != want:
			t.Errorf("%s is read as %s, and by containerd as %s", reference, got.String(), want)
		case err == nil:
			taken++
		case want != "-" && toLower(registry) == registry && isRegistry(registry) && !strings.Contains(err.Error(), "the ID of an image"):
			t.Errorf("%s is refused: %v, and read by containerd as %s", reference, err, want)
		}
	}
	if taken < 50 {
		t.Errorf("only %d references of the table were read", taken)
	}
}

func FuzzParseImage(f *testing.F) {
	for _, seed := range []string{"nginx", "r.example:5000/a/b:1@" + sha256, "[::1]/a", "A.B/c_d"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, reference string) {
		i, err := parseImage(reference)
		if err != nil {
			return
		}
		again, err := parseImage(i.String())
		if err != nil || again != i {
			t.Errorf("%q is %s, which is %s, %v", reference, i.String(), again.String(), err)
		}
		if i.digest == "" && i.tag == "" || i.digest != "" && i.tag != "" || i.registry == "" || i.path == "" {
			t.Errorf("%q: %+v", reference, i)
		}
	})
}

// FuzzParsePlain checks that parsePlain parses plain references as parseAny does.
func FuzzParsePlain(f *testing.F) {
	for _, seed := range []string{
		"r.example/shop/web:1.2.3", "registry.example/a", "docker.io/nginx", "index.docker.io/nginx:1", "evil-docker.io/nginx", "a.b/c",
		"r.example/shop/web:1:2", "r.example:5000/web", "registry.example/a--b", "registry.example/a__b", "-egistry.example/a", "registry.example/a-",
		"registry.example//a", "registry-.example/a", "registry.example/a@" + sha256, "Registry.example/a", "localhost/abcdefgh", "registry.example/\xe1",
		"registry.example/" + strings.Repeat("a", maxPath), "a/bcdefgh.i",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, reference string) {
		var got image
		if !got.parsePlain(reference) {
			return
		}
		if want, err := parseAny(reference); err != nil || got != want {
			t.Errorf("%q is %+v, but %+v, %v", reference, got, want, err)
		}
	})
}

// FuzzCheck checks that the short path for plain references has the same verdict as the
// long path.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{"r.example/shop/web:1", "r.example.evil/a", "docker.io/a/b", "a.docker.io/web", "evil.example/r.example/web", "r.example:1/web"} {
		f.Add(seed, "r.example/*", "*/*")
		f.Add(seed, "docker.io/*", "r.example/web:1")
		f.Add(seed, "index.docker.io/*", "localhost/*")
		f.Add(seed, "*.example/*", "r.example/*")
	}
	f.Fuzz(func(t *testing.T, reference, first, second string) {
		p, err := newPolicy([]string{first, second}, false)
		if err != nil {
			return
		}
		by, fault := p.check(reference)
		if wantBy, wantFault := p.checkAny(reference); by != wantBy || fault != wantFault {
			t.Errorf("%q: %q, %q, but %q, %q", reference, by, fault, wantBy, wantFault)
		}
	})
}

func TestOrdinaryReferencesArePlain(t *testing.T) {
	for reference, want := range map[string]bool{
		"registry.example/shop/web:1.2.3": true, "quay.io/a/b": true, "r.example/a-b.c:latest": true, "g.io/x": false, "gcr.io/x": true,
		"nginx": false, "docker.io/library/nginx": false, "localhost:5000/web": false, "registry.example/a_b": false, "registry.example/a--b": false,
		"registry.example/web@" + sha256: false, "Registry.example/web": false, "registry.example/web:": false, "registry.example/w\x80b": false,
	} {
		if got := new(image).parsePlain(reference); got != want {
			t.Errorf("%s: %v", reference, got)
		}
	}
}
