package object

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wardlet/wardlet/core/state"
)

const (
	configs = "/api/v1/namespaces/shop/configmaps"
	classes = "/apis/node.k8s.io/v1/runtimeclasses"
)

// kinds has for each kind of objects its path on the server, a function that returns an object
// with a text, and a function that returns the text that a pod gets from the object "x".
var kinds = map[string]struct {
	path   string
	object func(text string) map[string]any
	get    func(*testing.T, *rig, string) (string, error)
	// named is the name of the object "x" in errors.
	named string
}{
	"ConfigMap": {
		configs, func(text string) map[string]any { return map[string]any{"data": map[string]any{"text": text}} },
		func(t *testing.T, r *rig, pod string) (string, error) {
			t.Helper()
			m, err := r.ConfigMap(t.Context(), newPod(pod), "x")
			if err != nil {
				return "", err
			}
			return m.Data["text"], nil
		},
		"ConfigMap shop/x",
	},
	"Secret": {
		"/api/v1/namespaces/shop/secrets", func(text string) map[string]any {
			return map[string]any{"data": map[string]any{"text": base64.StdEncoding.EncodeToString([]byte(text))}}
		},
		func(t *testing.T, r *rig, pod string) (string, error) {
			t.Helper()
			s, err := r.Secret(t.Context(), newPod(pod), "x")
			if err != nil {
				return "", err
			}
			return string(s.Data["text"]), nil
		},
		"Secret shop/x",
	},
	"RuntimeClass": {
		classes, func(text string) map[string]any { return map[string]any{"handler": text} },
		func(t *testing.T, r *rig, pod string) (string, error) {
			t.Helper()
			c, err := r.RuntimeClass(t.Context(), newPod(pod), "x")
			if err != nil {
				return "", err
			}
			return c.Handler, nil
		},
		"RuntimeClass x",
	},
}

func TestPlane_followsWhatAPodNames(t *testing.T) {
	t.Parallel()
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			says := func() string {
				text, err := kind.get(t, r, "web")
				if apierrors.IsNotFound(err) {
					return "none"
				}
				if err != nil {
					return err.Error()
				}
				return text
			}
			if got := says(); got != "none" {
				t.Fatalf("before there is one: %s", got)
			}
			for _, text := range []string{"one", "two", "none", "three"} {
				before := r.changesOf("uid-web")
				if text == "none" {
					r.server.set(kind.path, "x", nil)
				} else {
					r.server.set(kind.path, "x", kind.object(text))
				}
				eventually(t, "object", text, says)
				eventually(t, "pod was woken after "+text, true, func() bool { return r.changesOf("uid-web") > before })
			}
			// The service tells which cluster the server belongs to.
			if want := []string{kind.path + " x", "/api/v1/namespaces/default/services kubernetes"}; !slices.Equal(r.server.requests, want) {
				t.Errorf("lists %q, want %q", r.server.requests, want)
			}
		})
	}
}

func TestPlane_keepsWhatWasKnownWhileTheServerIsAway(t *testing.T) {
	t.Parallel()
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.server.set(kind.path, "x", kind.object("one"))
			if text, err := kind.get(t, r, "web"); text != "one" || err != nil {
				t.Fatalf("got %q, %v", text, err)
			}
			r.server.turn(true)
			eventually(t, "requests are refused", true, r.server.hasRefused)
			for _, pod := range []string{"web", "another"} {
				if text, err := kind.get(t, r, pod); text != "one" || err != nil {
					t.Errorf("%s, while the server is away: %q, %v", pod, text, err)
				}
			}
			r.server.set(kind.path, "x", kind.object("two"))
			r.server.turn(false)
			eventually(t, "object", "two", func() string { text, _ := kind.get(t, r, "web"); return text })
		})
	}
}

func TestPlane_saysWhyAnObjectIsNotKnownYet(t *testing.T) {
	t.Parallel()
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.server.turn(true)
			_, err := kind.get(t, r, "web")
			if err == nil || apierrors.IsNotFound(err) || !strings.HasPrefix(err.Error(), kind.named+" is not known yet: ") || !strings.Contains(err.Error(), "down for a while") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestPlane_dropsAnObjectWithTheLastPodThatNamesIt(t *testing.T) {
	t.Parallel()
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.server.set(kind.path, "x", kind.object("one"))
			for _, pod := range []string{"web", "db"} {
				if _, err := kind.get(t, r, pod); err != nil {
					t.Fatal(err)
				}
			}
			watches := func() int { return r.server.watched(kind.path, "x") }
			eventually(t, "watches of an object that two pods name", 1, watches)
			r.Release("uid-web")
			before := r.changesOf("uid-web")
			r.server.set(kind.path, "x", kind.object("two"))
			eventually(t, "object of the pod that is left", "two", func() string { text, _ := kind.get(t, r, "db"); return text })
			if r.changesOf("uid-web") != before {
				t.Error("a pod that is gone was woken")
			}
			r.Release("uid-db")
			eventually(t, "watches after the last pod", 0, watches)
		})
	}
}

func TestPlane_watchesBeforeItIsNeeded(t *testing.T) {
	t.Parallel()
	named := v1.LocalObjectReference{Name: "x"}
	env := func(from v1.EnvVarSource) v1.PodSpec {
		return v1.PodSpec{Containers: []v1.Container{{Env: []v1.EnvVar{{Name: "E", ValueFrom: &from}}}}}
	}
	for name, tt := range map[string]struct {
		kind string
		spec v1.PodSpec
	}{
		"the class of the runtime":        {"RuntimeClass", v1.PodSpec{RuntimeClassName: new("x")}},
		"a variable from a ConfigMap":     {"ConfigMap", env(v1.EnvVarSource{ConfigMapKeyRef: &v1.ConfigMapKeySelector{LocalObjectReference: named}})},
		"a variable from a Secret":        {"Secret", env(v1.EnvVarSource{SecretKeyRef: &v1.SecretKeySelector{LocalObjectReference: named}})},
		"credentials to pull images with": {"Secret", v1.PodSpec{ImagePullSecrets: []v1.LocalObjectReference{named}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, kind := newRig(t), kinds[tt.kind]
			r.server.set(kind.path, "x", kind.object("one"))
			r.server.set("/api/v1/namespaces/shop/services", "db", map[string]any{"spec": map[string]any{"clusterIP": "10.0.0.1"}})
			p := newPod("web")
			p.Spec = tt.spec
			r.Watch(p)
			eventually(t, "watches", 1, func() int { return r.server.watched(kind.path, "x") })
			for _, namespace := range []string{"default", "shop"} {
				eventually(t, "watches of services", 1, func() int { return r.server.watched("/api/v1/namespaces/"+namespace+"/services", "") })
			}
			r.server.turn(true)
			if text, err := kind.get(t, r, "web"); err != nil || text != "one" {
				t.Errorf("got %v, %v", text, err)
			}
			for _, namespace := range []string{"default", "shop"} {
				if _, err := r.Services(t.Context(), p, namespace); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestPlane_servicesOfANamespace(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const path = "/api/v1/namespaces/shop/services"
	names := func() string {
		var all []string
		services, err := r.Services(t.Context(), newPod("web"), "shop")
		if err != nil {
			return err.Error()
		}
		for _, s := range services {
			all = append(all, s.Name+" "+s.Spec.ClusterIP)
		}
		return strings.Join(all, ", ")
	}
	service := func(ip string) map[string]any { return map[string]any{"spec": map[string]any{"clusterIP": ip}} }
	r.server.set(path, "db", service("10.0.0.1"))
	if got := names(); got != "db 10.0.0.1" {
		t.Fatalf("services: %s", got)
	}
	eventually(t, "the first answer wakes the pod", 1, func() int { return r.changesOf("uid-web") })
	r.server.set(path, "api", service("10.0.0.2"))
	eventually(t, "services", "api 10.0.0.2, db 10.0.0.1", names)
	r.server.set(path, "db", service("10.0.0.3"))
	eventually(t, "services", "api 10.0.0.2, db 10.0.0.3", names)
	r.server.set(path, "api", nil)
	eventually(t, "services", "db 10.0.0.3", names)
	if n := r.changesOf("uid-web"); n != 1 {
		t.Errorf("the pod was woken %d times", n)
	}
}

// disk is a state.Objects in memory.
type disk struct {
	mu      sync.Mutex
	records map[string]state.Object
	// full makes Put fail.
	full bool
}

func (d *disk) Load() (all []state.Object, errs []error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Collect(maps.Values(d.records)), nil
}

func (d *disk) Put(o *state.Object) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.full {
		return errors.New("no space left on device")
	}
	d.records[o.Key] = *o
	return nil
}

// fill makes Put fail from now on.
func (d *disk) fill() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full = true
}

func (d *disk) Delete(key string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.records, key)
	return nil
}

// says reports whether the record of a Secret contains the text.
func (d *disk) says(text string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for key, record := range d.records {
		data, _ := json.Marshal(record)
		if strings.HasPrefix(key, "Secret") && (strings.Contains(string(data), text) || strings.Contains(string(record.Sealed), text)) {
			return true
		}
	}
	return false
}

func (d *disk) keys() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Join(slices.Sorted(maps.Keys(d.records)), ", ")
}

// TestPlane_knowsObjectsAfterARestart checks that an agent that starts while the server is down
// uses the stored objects, and removes an object that is gone once the server is up again.
func TestPlane_knowsObjectsAfterARestart(t *testing.T) {
	t.Parallel()
	d := &disk{records: map[string]state.Object{}}
	r := newRigOn(t, nil, d)
	for name, kind := range kinds {
		r.server.set(kind.path, "x", kind.object("one"))
		if text, err := kind.get(t, r, "web"); text != "one" || err != nil {
			t.Fatalf("%s: %q, %v", name, text, err)
		}
	}
	if _, err := r.Services(t.Context(), newPod("web"), "shop"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "kept", "ConfigMap shop/x, RuntimeClass x, Secret shop/x, Service shop/*", d.keys)
	if d.says("one") || d.says(base64.StdEncoding.EncodeToString([]byte("one"))) {
		t.Error("the Secret can be read on the disk")
	}

	r.server.turn(true)
	r.stop()
	after := newRigOn(t, r.server, d)
	began := time.Now()
	for name, kind := range kinds {
		text, err := kind.get(t, after, "web")
		if text != "one" || err != nil {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	if took := time.Since(began); took > 2*after.patience {
		t.Errorf("the copies of %d objects are used after %s; the wait for the server is %s", len(kinds), took, after.patience)
	}
	if services, err := after.Services(t.Context(), newPod("web"), "shop"); len(services) != 0 || err != nil {
		t.Errorf("services %v, %v", services, err)
	}
	r.server.set(configs, "x", nil)
	r.server.turn(false)
	eventually(t, "gone", true, func() bool {
		_, err := kinds["ConfigMap"].get(t, after, "web")
		return apierrors.IsNotFound(err)
	})
	after.Release("uid-web")
	eventually(t, "kept after the last pod", "", d.keys)
}

// TestPlane_usesNoCopyOfWhatItKnows checks that an object that is known stays as it is when the server
// no longer answers about another one, though the disk has an older copy.
func TestPlane_usesNoCopyOfWhatItKnows(t *testing.T) {
	t.Parallel()
	d := &disk{records: map[string]state.Object{}}
	r := newRigOn(t, nil, d)
	kind := kinds["ConfigMap"]
	says := func() string {
		text, err := kind.get(t, r, "web")
		if err != nil {
			return err.Error()
		}
		return text
	}
	r.server.set(kind.path, "x", kind.object("one"))
	eventually(t, "object", "one", says)
	eventually(t, "kept", "ConfigMap shop/x", d.keys)
	d.fill()
	r.server.set(kind.path, "x", kind.object("two"))
	eventually(t, "object", "two", says)
	r.server.turn(true)
	if _, err := r.ConfigMap(t.Context(), newPod("db"), "y"); err == nil || apierrors.IsNotFound(err) {
		t.Fatalf("an object that nobody answers about: %v", err)
	}
	if got := says(); got != "two" {
		t.Errorf("while the server is silent: %q", got)
	}
}

// TestPlane_readsNoSecretsOfAnotherKey checks that stored Secrets are not used with another key
// or without a key; the agent has to wait for the server.
func TestPlane_readsNoSecretsOfAnotherKey(t *testing.T) {
	t.Parallel()
	d := &disk{records: map[string]state.Object{}}
	r := newRigOn(t, nil, d)
	secret := kinds["Secret"]
	r.server.set(secret.path, "x", secret.object("one"))
	if text, err := secret.get(t, r, "web"); text != "one" || err != nil {
		t.Fatalf("%q, %v", text, err)
	}
	eventually(t, "kept", "Secret shop/x", d.keys)
	r.server.turn(true)
	for name, key := range map[string]*Key{"another": testKey(t, "b"), "none": nil} {
		after := newRigOn(t, r.server, d)
		after.cfg.Key = key
		if text, err := secret.get(t, after, "web"); err == nil || !strings.Contains(err.Error(), "is not known yet") {
			t.Errorf("with %s key: %q, %v", name, text, err)
		}
	}
}

func TestPlane_forgetsWhatNoPodHasNamedForADay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &disk{records: map[string]state.Object{"ConfigMap shop/old": {Key: "ConfigMap shop/old"}}}
		p := New(Config{Disk: d, Logger: slog.New(slog.DiscardHandler), Now: time.Now})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { p.Run(ctx) })
		time.Sleep(unnamedTime - time.Second)
		if got := d.keys(); got != "ConfigMap shop/old" {
			t.Errorf("kept %q", got)
		}
		time.Sleep(2 * time.Second)
		if got := d.keys(); got != "" {
			t.Errorf("kept %q after a day", got)
		}
		cancel()
		running.Wait()
	})
}
