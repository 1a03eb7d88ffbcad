package main

import (
	"strings"
	"testing"

	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
)

// usual are the settings of the document in policies/.
var usual = map[string]any{"allow": []string{"registry.example/*", "docker.io/library/nginx"}}

func containers(images ...string) []any {
	list := make([]any, len(images))
	for i, image := range images {
		list[i] = map[string]any{"name": string(rune('a' + i%26)), "image": image}
	}
	return list
}

func pod(spec map[string]any) sdktest.Request {
	return sdktest.Request{Pod: map[string]any{"metadata": map[string]any{"name": "web"}, "spec": spec}}
}

func TestListedImagesAreAllowed(t *testing.T) {
	got := sdktest.Load(t, usual).Admit(t, pod(map[string]any{"containers": containers("registry.example/app:1", "nginx")}))
	if got.Answer != sdktest.Allow {
		t.Fatalf("got %+v", got)
	}
	want := `container "a": image "registry.example/app:1" is allowed by "registry.example/*"` + "\n" +
		`container "b": image "nginx" is allowed by "docker.io/library/nginx"`
	if got.Explanation != want {
		t.Errorf("explanation %q, want %q", got.Explanation, want)
	}
}

func TestOtherImagesAreDeniedWithContainerAndImage(t *testing.T) {
	got := sdktest.Load(t, usual).Admit(t, pod(map[string]any{"containers": containers("nginx", "busybox")}))
	want := `container "b": image "busybox" ("docker.io/library/busybox:latest") is not allowed (allowed: registry.example/*, docker.io/library/nginx)`
	if got.Answer != sdktest.Deny || got.Code != "ImageNotAllowed" || got.Message != want {
		t.Errorf("got %+v, want %s", got, want)
	}
	if !strings.Contains(got.Explanation, `"nginx" is allowed by`) || !strings.Contains(got.Explanation, `is not allowed`) {
		t.Errorf("explanation %q", got.Explanation)
	}
}

func TestEveryImageOfAPodIsLookedAt(t *testing.T) {
	good := containers("nginx")
	for where, spec := range map[string]map[string]any{
		"containers":           {"containers": containers("nginx", "evil.example/x")},
		"init containers":      {"containers": good, "initContainers": containers("evil.example/x")},
		"ephemeral containers": {"containers": good, "ephemeralContainers": containers("evil.example/x")},
		"image volumes": {"containers": good, "volumes": []any{
			map[string]any{"name": "v", "emptyDir": map[string]any{}},
			map[string]any{"name": "w", "image": map[string]any{"reference": "evil.example/x"}},
		}},
		"containers without image":    {"containers": []any{map[string]any{"name": "a"}}},
		"image volumes without image": {"containers": good, "volumes": []any{map[string]any{"name": "w", "image": map[string]any{"reference": ""}}}},
	} {
		got := sdktest.Load(t, usual).Admit(t, pod(spec))
		if strings.Contains(where, "volumes without") {
			// The API refuses such a volume, because it mounts nothing.
			if got.Answer != sdktest.Allow {
				t.Errorf("%s: %+v", where, got)
			}
			continue
		}
		if got.Answer != sdktest.Deny || got.Code != "ImageNotAllowed" {
			t.Errorf("%s: %+v", where, got)
		}
	}
}

func TestThereIsNoWayRound(t *testing.T) {
	p := sdktest.Load(t, usual)
	for _, image := range []string{
		"registry.example.evil/app", "registry.example:5000/app", "evil.example/registry.example/app", "docker.io/registry.example/app",
		"registry.example@evil.example/app", "evil.example/registry.example:1", "registry.example%2f@evil.example/app",
		"registry.example/../evil.example/app", "registry.example\t/app", "registry.example/app\nevil.example/app", " registry.example/app",
		"REGISTRY.EXAMPLE.EVIL/app", "Registry.example/APP", "NGINX", "nginx/nginx", "nginx.example/library/nginx", "docker.io.evil/library/nginx",
		"library/nginx/evil", "localhost/nginx", "localhost:5000", "nginx:1@md5:" + strings.Repeat("0", 32), "nginx@sha256:0",
		sha256, "sha256:0123", strings.Repeat("0123456789abcdef", 4), "registry.example", "registry.example:5000", "http://registry.example/app",
	} {
		if got := p.Admit(t, pod(map[string]any{"containers": containers(image)})); got.Answer != sdktest.Deny {
			t.Errorf("%q: %+v", image, got)
		}
	}
}

func TestDigestsCanBeRequired(t *testing.T) {
	p := sdktest.Load(t, map[string]any{"allow": usual["allow"], "require_digest": true})
	for image, want := range map[string]sdktest.Answer{
		"nginx@" + sha256:                  sdktest.Allow,
		"nginx:1@" + sha256:                sdktest.Allow,
		"registry.example/a/b:1@" + sha256: sdktest.Allow,
		"nginx":                            sdktest.Deny,
		"registry.example/a/b:1":           sdktest.Deny,
		"busybox@" + sha256:                sdktest.Deny,
	} {
		if got := p.Admit(t, pod(map[string]any{"containers": containers(image)})); got.Answer != want {
			t.Errorf("%s: %+v", image, got)
		}
	}
	got := p.Admit(t, pod(map[string]any{"containers": containers("nginx")}))
	if !strings.Contains(got.Message, "settings.require_digest") {
		t.Errorf("message %q", got.Message)
	}
}

func TestAChangedImageIsJudgedAgain(t *testing.T) {
	r := pod(map[string]any{"containers": containers("evil.example/x")})
	r.Old = pod(map[string]any{"containers": containers("nginx")}).Pod
	if got := sdktest.Load(t, usual).Admit(t, r); got.Answer != sdktest.Deny {
		t.Errorf("got %+v", got)
	}
}

func TestBadSettingsAreRefused(t *testing.T) {
	for what, test := range map[string]struct {
		settings map[string]any
		want     string
	}{
		"no settings":             {nil, "settings.allow must list at least one pattern"},
		"an empty list":           {map[string]any{"allow": []string{}}, "settings.allow must list at least one pattern"},
		"one string, not a list":  {map[string]any{"allow": "registry.example/*"}, "setting allow must be a list"},
		"a list of other things":  {map[string]any{"allow": []any{1}}, "setting allow must be a list of strings"},
		"a bad pattern":           {map[string]any{"allow": []string{"*/*", "nginx"}}, `settings.allow[1]: "nginx": name the registry`},
		"require_digest as text":  {map[string]any{"allow": []string{"*/*"}, "require_digest": "yes"}, "setting require_digest must be a bool"},
		"a typing mistake":        {map[string]any{"allow": []string{"*/*"}, "require_digests": true}, "there is no setting require_digests: did you mean require_digest?"},
		"an empty pattern":        {map[string]any{"allow": []string{""}}, "settings.allow[0]"},
		"a pattern with a string": {map[string]any{"allow": []string{`a.b/"c`}}, "no image can match this path"},
	} {
		if got := sdktest.LoadError(t, test.settings); !strings.Contains(got, test.want) {
			t.Errorf("%s: got %q, want %q", what, got, test.want)
		}
	}
}

func TestWhatIsSaidHasBounds(t *testing.T) {
	many := make([]string, 200)
	for i := range many {
		many[i] = "evil.example/" + strings.Repeat("x", 240)
	}
	for what, images := range map[string][]string{"many containers": many, "a long image": {strings.Repeat("é", 20_000)}} {
		got := sdktest.Load(t, usual).Admit(t, pod(map[string]any{"containers": containers(images...)}))
		if got.Answer != sdktest.Deny || len(got.Message) > 4<<10-1 || len(got.Explanation) > 16<<10 {
			t.Errorf("%s: %s, %d bytes of message, %d of explanation", what, got.Answer, len(got.Message), len(got.Explanation))
		}
	}
	got := sdktest.Load(t, usual).Admit(t, pod(map[string]any{"containers": containers(many...)}))
	if !strings.Contains(got.Message, "and 195 more (allowed: registry.example/*") {
		t.Errorf("message %q", got.Message)
	}
}
