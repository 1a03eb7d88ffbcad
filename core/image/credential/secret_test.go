package credential

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

func TestPods(t *testing.T) {
	t.Parallel()
	secret := func(kind v1.SecretType, key, text string) *v1.Secret {
		return &v1.Secret{Type: kind, Data: map[string][]byte{key: []byte(text)}}
	}
	secrets := map[string]*v1.Secret{
		"json":   secret(v1.SecretTypeDockerConfigJson, v1.DockerConfigJsonKey, `{"auths":{"r.example":{"auth":"bWU6c2VjcmV0"},"other.example":{"username":"no","password":"no"}}}`),
		"old":    secret(v1.SecretTypeDockercfg, v1.DockerConfigKey, `{"https://r.example/v1/":{"username":"old","password":"p"}}`),
		"opaque": secret(v1.SecretTypeOpaque, "x", "y"),
		"broken": secret(v1.SecretTypeDockerConfigJson, v1.DockerConfigJsonKey, `{"auths": s3cret`),
		"bad":    secret(v1.SecretTypeDockercfg, v1.DockerConfigKey, `[]`),
	}
	c := &Pods{
		Node: New(Config{Log: slog.New(slog.DiscardHandler), Now: time.Now}),
		Secret: func(_ context.Context, _ *v1.Pod, name string) (*v1.Secret, error) {
			if secrets[name] == nil {
				return nil, errors.New("none of that name")
			}
			return secrets[name], nil
		},
	}
	me, old := pod.RegistryAuth{Username: "me", Password: "secret"}, pod.RegistryAuth{Username: "old", Password: "p"}
	for name, test := range map[string]struct {
		secrets []string
		want    []pod.RegistryAuth
		errs    []string
	}{
		"none":                   {},
		"in the pod's order":     {secrets: []string{"old", "json"}, want: []pod.RegistryAuth{old, me}},
		"one cannot be used":     {secrets: []string{"opaque", "json"}, want: []pod.RegistryAuth{me}, errs: []string{"it has type Opaque; want kubernetes.io/dockerconfigjson"}},
		"one is missing":         {secrets: []string{"json", "gone"}, want: []pod.RegistryAuth{me}, errs: []string{"imagePullSecrets: none of that name"}},
		"what they hold is none": {secrets: []string{"broken", "bad"}, errs: []string{"no JSON at byte", "is no registry configuration"}},
	} {
		p := &v1.Pod{}
		for _, s := range test.secrets {
			p.Spec.ImagePullSecrets = append(p.Spec.ImagePullSecrets, v1.LocalObjectReference{Name: s})
		}
		got, err := c.For(t.Context(), p, "r.example/app:1")
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if (err != nil) != (len(test.errs) > 0) || err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: error %v", name, err)
		}
		for _, want := range test.errs {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v, want %s", name, err, want)
			}
		}
	}
	if got, err := c.For(t.Context(), nil, "r.example/app:1"); got != nil || err != nil {
		t.Errorf("for no pod: %v, %v", got, err)
	}
}
