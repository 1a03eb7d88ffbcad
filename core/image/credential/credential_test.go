package credential

import (
	"encoding/base64"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/wardlet/wardlet/core/pod"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// logged is a log that can be read.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// rig is a node with a registry configuration and a provider.
type rig struct {
	*Node
	dir string
	log logged
	now time.Time
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{dir: t.TempDir(), now: time.Unix(1_700_000_000, 0)}
	r.Node = New(Config{
		RegistryConfig: filepath.Join(r.dir, "config.json"), ProviderConfig: filepath.Join(r.dir, "providers.yaml"), ProviderDir: r.dir,
		Log: slog.New(slog.NewTextHandler(&r.log, nil)), Now: func() time.Time { return r.now },
	})
	r.write(t, "config.json", `{"auths": {}}`, 0o600)
	return r
}

func (r *rig) write(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	path := filepath.Join(r.dir, name)
	syscall.ForkLock.RLock() // a child that has the script open for writing makes it busy
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path+".new", []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path+".new", mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// provide writes the configuration of a credential provider "p" and its program, a script.
func (r *rig) provide(t *testing.T, match, script string) {
	t.Helper()
	r.write(t, "providers.yaml", "apiVersion: kubelet.config.k8s.io/v1\nkind: CredentialProviderConfig\nproviders:\n"+
		"- {name: p, apiVersion: credentialprovider.kubelet.k8s.io/v1, matchImages: ['"+match+"'], defaultCacheDuration: 10m, args: [--get], env: [{name: TOKEN, value: t1}]}\n", 0o600)
	r.write(t, "p", "#!/bin/sh\necho run >>"+r.dir+"/runs\n"+script, 0o700)
}

// users returns the user names of the credentials for an image.
func (r *rig) users(t *testing.T, image string) (users []string, err error) {
	t.Helper()
	auths, err := r.For(t.Context(), image)
	for _, a := range auths {
		users = append(users, a.Username)
	}
	return users, err
}

func (r *rig) runs() int {
	data, _ := os.ReadFile(filepath.Join(r.dir, "runs"))
	return strings.Count(string(data), "run")
}

// auth returns the entry of a user in a config.json.
func auth(user string) string {
	return `{"auth": "` + base64.StdEncoding.EncodeToString([]byte(user+":secret")) + `"}`
}

func TestFor_registryConfig(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		key   string
		image string
		want  bool
	}{
		"a host":                            {"registry.example", "registry.example/app:1", true},
		"another host":                      {"registry.example", "registry.example.com/app:1", false},
		"a host in front":                   {"registry.example", "a.registry.example/app:1", false},
		"a URL":                             {"https://registry.example/v2/", "registry.example/app:1", true},
		"a URL without a slash at its end":  {"https://registry.example/v1", "registry.example/app:1", true},
		"a port":                            {"registry.example:5000", "registry.example:5000/app", true},
		"another port":                      {"registry.example:5000", "registry.example/app", false},
		"no port":                           {"registry.example", "registry.example:5000/app", false},
		"a path":                            {"registry.example/team", "registry.example/team/app", true},
		"another path":                      {"registry.example/team", "registry.example/other/app", false},
		"a wildcard":                        {"*.example", "registry.example/app", true},
		"a wildcard is of one part":         {"*.example", "a.registry.example/app", false},
		"part of a part":                    {"reg*.example", "registry.example/app", true},
		"Docker Hub as docker login writes": {"https://index.docker.io/v1/", "nginx", true},
		"Docker Hub by its name":            {"docker.io", "docker.io/library/nginx:1", true},
		"Docker Hub with a path":            {"docker.io/team", "team/app", true},
		"Docker Hub in upper case is not":   {"docker.io", "DOCKER.IO/nginx", false},
		"a path is no host":                 {"team", "team/app", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.providers = nil
			r.write(t, "config.json", `{"auths": {"`+test.key+`": `+auth("me")+`}}`, 0o600)
			auths, err := r.For(t.Context(), test.image)
			var want []pod.RegistryAuth
			if test.want {
				want = []pod.RegistryAuth{{Username: "me", Password: "secret"}}
			}
			if diff := cmp.Diff(want, auths); diff != "" || err != nil {
				t.Error(diff, err)
			}
		})
	}
}

func TestFor_mostSpecificFirst(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.providers = nil
	r.write(t, "config.json", `{"auths": {"registry.example": `+auth("host")+`, "registry.example/team/app": `+auth("app")+`, "registry.example/team": `+auth("team")+`}}`, 0o600)
	users, err := r.users(t, "registry.example/team/app:1")
	if diff := cmp.Diff([]string{"app", "team", "host"}, users); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestFor_badRegistryConfigKeepsTheLastGood(t *testing.T) {
	t.Parallel()
	good := `{"auths": {"registry.example": ` + auth("me") + `}}`
	for name, test := range map[string]struct{ text, want string }{
		"no JSON":              {`{"auths": {"registry.example": {"auth": "bWU6c2VjcmV0"`, "no JSON at byte"},
		"no auths":             {`{}`, `it has no "auths"`},
		"a helper":             {`{"credsStore": "desktop"}`, "credsStore and credHelpers are not used"},
		"no base64":            {`{"auths": {"registry.example": {"auth": "secret!"}}}`, `auths["registry.example"]: auth is not USER:PASSWORD in base64`},
		"no colon":             {`{"auths": {"registry.example": {"auth": "c2VjcmV0"}}}`, `auths["registry.example"]: auth is not USER:PASSWORD in base64`},
		"neither":              {`{"auths": {"registry.example": {}}}`, "neither auth nor username and password are set"},
		"a host that is none":  {`{"auths": {"a b": ` + auth("me") + `}}`, "want [*.]host[:port][/path]"},
		"longer than may be":   {`{"auths": {}, "x": "` + strings.Repeat("x", maxFile) + `"}`, "it is longer than 1048576 bytes"},
		"a field of a list":    {`{"auths": []}`, "auths has the wrong type"},
		"gone":                 {"", "no such file or directory"},
		"an empty secret kept": {`{"auths": {"registry.example": {"username": ""}}}`, "neither auth nor"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.providers = nil
			r.write(t, "config.json", good, 0o600)
			if _, err := r.users(t, "registry.example/app"); err != nil {
				t.Fatal(err)
			}
			if test.text == "" {
				if err := os.Remove(filepath.Join(r.dir, "config.json")); err != nil {
					t.Fatal(err)
				}
			} else {
				r.write(t, "config.json", test.text, 0o600)
			}
			for range 3 {
				users, err := r.users(t, "registry.example/app")
				if diff := cmp.Diff([]string{"me"}, users); diff != "" {
					t.Error(diff)
				}
				if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "runtime.registry_config: "+r.dir+"/config.json cannot be used: ") {
					t.Errorf("%v, want %s", err, test.want)
				}
				if err != nil && strings.Contains(err.Error(), "secret!") {
					t.Errorf("the error has the secret: %v", err)
				}
			}
			if n := strings.Count(r.log.text.String(), "level=WARN"); n != 1 {
				t.Errorf("%d lines of the log, want one for a fault that stays", n)
			}
			r.write(t, "config.json", strings.Replace(good, "registry.example", "other.example", 1), 0o600)
			if users, err := r.users(t, "other.example/app"); err != nil || len(users) != 1 {
				t.Errorf("when it is mended: %v, %v", users, err)
			}
		})
	}
}

func TestFor_warnsOfFilesThatOthersMayRead(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.providers = nil
	for _, mode := range []os.FileMode{0o600, 0o640, 0o644, 0o600} {
		r.write(t, "config.json", `{"auths": {"registry.example": `+auth("me"+mode.String())+`}}`, mode)
		if _, err := r.users(t, "registry.example/app"); err != nil {
			t.Error(err)
		}
	}
	if n := strings.Count(r.log.text.String(), "chmod 600 it"); n != 1 {
		t.Errorf("%d warnings, want one while it stays open", n)
	}
}

func FuzzParseRegistryConfig(f *testing.F) {
	f.Add([]byte(`{"auths": {"registry.example": {"auth": "bWU6c2VjcmV0"}}}`))
	f.Add([]byte(`{"auths": {"https://[::1]:5/v1/": {"username": "a", "password": "b"}}}`))
	f.Fuzz(func(_ *testing.T, data []byte) {
		keys, err := parseRegistryConfig(data)
		if err == nil {
			keys.lookup("registry.example/app")
		}
	})
}

func TestFor_entriesOfCredentialHelpersAreSkipped(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.providers = nil
	r.write(t, "config.json", `{"auths": {"a.example": {}, "registry.example": `+auth("me")+`}, "credHelpers": {"a.example": "gcloud"}}`, 0o600)
	users, err := r.users(t, "registry.example/app:1")
	if diff := cmp.Diff([]string{"me"}, users); diff != "" || err != nil {
		t.Error(diff, err)
	}
}
