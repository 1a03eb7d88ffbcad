package credential

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const answer = `cat >/dev/null; echo '{"kind":"CredentialProviderResponse","apiVersion":"credentialprovider.kubelet.k8s.io/v1","cacheKeyType":"Registry","auth":{"*.example":{"username":"'$TOKEN$1'","password":"p"}}}'` + "\n"

func TestFor_provider(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		match, script, image string
		users                []string
		want                 string // a part of the error, "" for none
	}{
		"with its arguments and environment": {"*.example", answer, "registry.example/app:1", []string{"t1--get"}, ""},
		"for another registry":               {"*.example", answer, "other.com/app:1", nil, ""},
		"for Docker Hub":                     {"docker.io", strings.Replace(answer, "*.example", "docker.io", 1), "nginx", []string{"t1--get"}, ""},
		"that answers about another one":     {"*.example", strings.Replace(answer, "*.example", "other.com", 1), "registry.example/app:1", nil, ""},
		"that knows no credential":           {"*.example", `echo '{"kind":"CredentialProviderResponse","apiVersion":"credentialprovider.kubelet.k8s.io/v1","cacheKeyType":"Image"}'`, "registry.example/app", nil, ""},
		"that wants the image": {
			"*.example", `grep -q '{"apiVersion":"credentialprovider.kubelet.k8s.io/v1","kind":"CredentialProviderRequest","image":"registry.example/team/app"}' || exit 3` + "\n" + answer,
			"registry.example/team/app:1",
			[]string{"t1--get"},
			"",
		},
		"that fails":                    {"*.example", "echo 'no \x1b[2J metadata' >&2; exit 1", "registry.example/app:1", nil, `exit status 1: no \x1b[2J metadata`},
		"that says nothing":             {"*.example", "true", "registry.example/app:1", nil, "its answer is no CredentialProviderResponse: no JSON at byte 0"},
		"that says something else":      {"*.example", "echo '{}'", "registry.example/app:1", nil, "want apiVersion credentialprovider.kubelet.k8s.io/v1 and kind CredentialProviderResponse"},
		"that says an unknown scope":    {"*.example", strings.Replace(answer, "Registry", "World", 1), "registry.example/app:1", nil, `cacheKeyType: want Image, Registry or Global, found "World"`},
		"that says more than can be":    {"*.example", "cat >/dev/null; head -c 2000000 /dev/zero", "registry.example/app:1", nil, "its answer is longer than 1048576 bytes"},
		"that does not read":            {"*.example", "exec <&-; " + strings.TrimPrefix(answer, "cat >/dev/null; "), "registry.example/app:1", []string{"t1--get"}, ""},
		"whose answer has a bad key":    {"*.example", strings.Replace(answer, "*.example", "a b", 1), "registry.example/app:1", nil, "want [*.]host[:port][/path]"},
		"that a path may not leave out": {"registry.example/team", answer, "registry.example/app:1", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.provide(t, test.match, test.script)
			users, err := r.users(t, test.image)
			if diff := cmp.Diff(test.users, users); diff != "" {
				t.Error(diff)
			}
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "credential provider p: ")):
				t.Errorf("%v, want %s", err, test.want)
			}
		})
	}
}

func TestFor_providerThatIsMissing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.provide(t, "*.example", answer)
	if err := os.Remove(filepath.Join(r.dir, "p")); err != nil {
		t.Fatal(err)
	}
	r.write(t, "config.json", `{"auths": {"registry.example": `+auth("me")+`}}`, 0o600)
	users, err := r.users(t, "registry.example/app")
	if len(users) != 1 || err == nil || !strings.Contains(err.Error(), "credential provider p: "+r.dir+"/p: no such file or directory") {
		t.Errorf("%v, %v: want those of the file, and why those of the provider are missing", users, err)
	}
}

func TestFor_providerThatHangsEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.provide(t, "*.example", "exec sleep 1000")
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		for r.runs() == 0 {
			time.Sleep(time.Millisecond)
		}
		cancel()
	})
	began := time.Now()
	if _, err := r.For(ctx, "registry.example/app"); err == nil {
		t.Error("no error")
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
	all.Wait()
}

func TestFor_cachesAnswers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		scope, lasts string
		images       []string
		after        time.Duration // the time before each of them
		runs         int
	}{
		"of a registry":             {"Registry", "", []string{"a.example/x", "a.example/y"}, 0, 1},
		"of another registry":       {"Registry", "", []string{"a.example/x", "b.example/x"}, 0, 2},
		"of an image":               {"Image", "", []string{"a.example/x:1", "a.example/x:2", "a.example/y"}, 0, 2},
		"of all":                    {"Global", "", []string{"a.example/x", "b.example/x"}, 0, 1},
		"for the configured time":   {"Global", "", []string{"a.example/x", "a.example/x"}, 9 * time.Minute, 1},
		"no longer than that":       {"Global", "", []string{"a.example/x", "a.example/x"}, 10 * time.Minute, 2},
		"for the time of an answer": {"Global", "1h", []string{"a.example/x", "a.example/x"}, 59 * time.Minute, 1},
		"not at all":                {"Global", "0s", []string{"a.example/x", "a.example/x"}, 0, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			script := strings.Replace(answer, `"Registry"`, `"`+test.scope+`"`, 1)
			if test.lasts != "" {
				script = strings.Replace(script, `"auth":`, `"cacheDuration":"`+test.lasts+`","auth":`, 1)
			}
			r.provide(t, "*.example", script)
			for _, image := range test.images {
				if users, err := r.users(t, image); err != nil || len(users) != 1 {
					t.Errorf("%s: %v, %v", image, users, err)
				}
				r.now = r.now.Add(test.after)
			}
			if got := r.runs(); got != test.runs {
				t.Errorf("the program ran %d times, want %d", got, test.runs)
			}
		})
	}
}

func TestParseProviders_refuses(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: kubelet.config.k8s.io/v1\nkind: CredentialProviderConfig\n"
	provider := func(change ...string) string {
		text := "- name: p\n  apiVersion: credentialprovider.kubelet.k8s.io/v1\n  matchImages: ['*.example']\n  defaultCacheDuration: 1m\n"
		return strings.NewReplacer(change...).Replace(text)
	}
	for name, test := range map[string]struct{ text, want string }{
		"no YAML":              {"{", "it is no CredentialProviderConfig"},
		"an old version":       {"apiVersion: kubelet.config.k8s.io/v1beta1\nkind: CredentialProviderConfig\n", "want apiVersion kubelet.config.k8s.io/v1 and kind CredentialProviderConfig"},
		"none":                 {head, "providers: missing"},
		"an unknown field":     {head + "providers:\n" + provider("name: p", "name: p\n  tokenAttributes: {}"), `unknown field "tokenAttributes"`},
		"a path for a name":    {head + "providers:\n" + provider("name: p", "name: ../p"), `providers[0].name: want the name of a program`},
		"two of one name":      {head + "providers:\n" + provider() + provider(), `providers[1].name: "p" is there twice`},
		"another API":          {head + "providers:\n" + provider("credentialprovider.kubelet.k8s.io/v1", "v2"), `providers[0].apiVersion: want credentialprovider.kubelet.k8s.io/v1, found "v2"`},
		"no pattern":           {head + "providers:\n" + provider("['*.example']", "[]"), `providers[0].matchImages: missing`},
		"a pattern of nothing": {head + "providers:\n" + provider("['*.example']", "['a b']"), `providers[0].matchImages[0]: want [*.]host[:port][/path], found "a b"`},
		"a broken wildcard":    {head + "providers:\n" + provider("['*.example']", "['a\\.example']"), `providers[0].matchImages[0]: `},
		"no time":              {head + "providers:\n" + provider("  defaultCacheDuration: 1m\n", ""), `providers[0].defaultCacheDuration: want a duration of 0 or more`},
		"less than no time":    {head + "providers:\n" + provider("1m", "-1m"), `providers[0].defaultCacheDuration: want a duration of 0 or more`},
	} {
		if _, err := parseProviders([]byte(test.text)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
}

func TestCache_isBounded(t *testing.T) {
	t.Parallel()
	c := newCache(func() time.Time { return time.Unix(0, 0) })
	for i := range 10 * maxAnswers {
		c.put("p", scopeImage, "registry.example/"+string(rune('a'+i%26))+strings.Repeat("x", i/26), nil, time.Hour)
	}
	if len(c.answers) > maxAnswers {
		t.Errorf("%d answers are kept", len(c.answers))
	}
}
