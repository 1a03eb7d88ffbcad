package object

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/manifest"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

// staticPod returns a pod of the node's own sources.
func staticPod(name string) *v1.Pod {
	p := newPod(name)
	p.Annotations = map[string]string{pod.AnnotationSource: "manifests"}
	return p
}

// config returns a manifest of the ConfigMap "x" with a text.
func config(text string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: shop}\ndata: {text: " + text + "}\n"
}

// read delivers files of the directory, as a snapshot if all is true and otherwise as a
// difference. A file with an empty text is gone.
func (r *rig) read(t *testing.T, all bool, files map[string]string) {
	t.Helper()
	var docs []api.Document
	var gone []string
	for path, text := range files {
		if text == "" {
			gone = append(gone, path)
			continue
		}
		docs = append(docs, manifest.DecodeObjects([]byte(text), manifest.DecodeFrom{Source: "objects", Kind: api.KindFile, File: path})...)
	}
	d := r.Directory()
	d.Health(nil)
	err := d.Apply(t.Context(), docs, gone)
	if all {
		err = d.Replace(t.Context(), docs)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// text returns the text that a static pod gets from the ConfigMap x, or the error.
func (r *rig) text(t *testing.T, name string) string {
	t.Helper()
	m, err := r.ConfigMap(t.Context(), staticPod(name), "x")
	if err != nil {
		return err.Error()
	}
	return m.Data["text"]
}

func TestDirectory(t *testing.T) {
	t.Parallel()
	const (
		broken  = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: shop}\ndata: {text: 5}\n"
		unnamed = "kind: ["
		missing = "configmaps \"x\" not found in /objects; put a manifest of it there, and the pod starts by itself"
		faulty  = "configmaps \"x\" not found: its document has a fault: /objects/a.yaml:4: data[text]: expected a string, got a number; put it in quotes"
	)
	immutable := func(text string) string { return config(text) + "immutable: true\n" }
	other := strings.ReplaceAll(config("other"), "name: x", "name: other")
	type step map[string]string
	for name, tc := range map[string]struct {
		steps []step
		// want is the text or the error that the pod gets after each step.
		want []string
		// faults are the documents that have faults after the last step.
		faults []string
	}{
		"changes":                     {[]step{{"a": config("one")}, {"a": config("two")}}, []string{"one", "two"}, nil},
		"comes":                       {[]step{{"b": other}, {"a": config("one")}}, []string{missing, "one"}, nil},
		"goes":                        {[]step{{"a": config("one")}, {"a": ""}}, []string{"one", missing}, nil},
		"moves":                       {[]step{{"a": config("one")}, {"a": "", "b": config("one")}}, []string{"one", "one"}, nil},
		"breaks":                      {[]step{{"a": config("one")}, {"a": broken}}, []string{"one", "one"}, []string{"a#0"}},
		"breaks and is mended":        {[]step{{"a": config("one")}, {"a": broken}, {"a": config("two")}}, []string{"one", "one", "two"}, nil},
		"breaks with its file":        {[]step{{"a": config("one")}, {"a": unnamed}}, []string{"one", "one"}, []string{"a#*", "a#0"}},
		"breaks, and its file goes":   {[]step{{"a": config("one")}, {"a": broken}, {"a": ""}}, []string{"one", "one", missing}, nil},
		"never was right":             {[]step{{"a": broken}}, []string{faulty}, []string{"a#0"}},
		"neighbour breaks":            {[]step{{"a": config("one") + "---\n" + other}, {"a": config("two") + "---\n" + strings.Replace(other, "\ndata:", "\ndate:", 1)}}, []string{"one", "two"}, []string{"a#1"}},
		"is left out beside a fault":  {[]step{{"a": config("one") + "---\n" + other}, {"a": strings.Replace(other, "\ndata:", "\ndate:", 1)}}, []string{"one", missing}, []string{"a#0"}},
		"stands twice":                {[]step{{"a": config("one")}, {"b": config("two")}}, []string{"one", "one"}, []string{"b#0"}},
		"stands twice, the first new": {[]step{{"b": config("two")}, {"a": config("one")}}, []string{"two", "one"}, []string{"b#0"}},
		"stands twice, one goes":      {[]step{{"a": config("one"), "b": config("two")}, {"a": ""}}, []string{"one", "two"}, nil},
		"turns into a secret":         {[]step{{"a": config("one")}, {"a": "apiVersion: v1\nkind: Secret\nmetadata: {name: x, namespace: shop}\n"}}, []string{"one", missing}, nil},
		"immutable":                   {[]step{{"a": immutable("one")}, {"a": immutable("two")}, {"a": config("two")}}, []string{"one", "one", "one"}, []string{"a#0"}},
		"immutable, moved":            {[]step{{"a": immutable("one")}, {"a": "", "b": immutable("two")}}, []string{"one", "one"}, []string{"b#0"}},
		"immutable no more":           {[]step{{"a": immutable("one")}, {"a": config("one")}, {"a": config("two")}}, []string{"one", "one", "one"}, []string{"a#0"}},
		"removed beside a broken one": {[]step{{"a": config("one"), "b": unnamed}, {"a": ""}}, []string{"one", missing}, []string{"b#*", "b#0"}},
		"immutable, made again":       {[]step{{"a": immutable("one")}, {"a": ""}, {"a": immutable("two")}}, []string{"one", missing, "two"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRigOn(t, nil, &disk{records: map[string]state.Object{}})
			for i, s := range tc.steps {
				files := map[string]string{}
				for name, text := range s {
					files["/objects/"+name+".yaml"] = text
				}
				r.read(t, i == 0, files)
				if got := r.text(t, "web"); got != tc.want[i] {
					t.Errorf("step %d: got  %q\nwant %q", i, got, tc.want[i])
				}
			}
			var faults []string
			for _, o := range r.List(func(types.UID) string { return "" }) {
				if o.Kind == "" {
					faults = append(faults, strings.ReplaceAll(strings.TrimPrefix(o.Document, "/objects/"), ".yaml", ""))
				}
			}
			slices.Sort(faults)
			if !slices.Equal(faults, tc.faults) {
				t.Errorf("documents with faults: %q, want %q", faults, tc.faults)
			}
		})
	}
}

// TestDirectory_wakesWhoUsesWhatChanged checks that a change wakes only the pods that use the
// object.
func TestDirectory_wakesWhoUsesWhatChanged(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	other := strings.ReplaceAll(config("other"), "name: x", "name: other")
	r.read(t, true, map[string]string{"/objects/a.yaml": config("one"), "/objects/b.yaml": other})
	r.text(t, "web")
	if _, err := r.ConfigMap(t.Context(), staticPod("db"), "other"); err != nil {
		t.Fatal(err)
	}
	r.read(t, false, map[string]string{"/objects/a.yaml": "# a comment\n" + config("one")})
	if n := r.changesOf("uid-web"); n != 0 {
		t.Errorf("woken %d times by a comment", n)
	}
	r.read(t, false, map[string]string{"/objects/a.yaml": config("two")})
	if web, db := r.changesOf("uid-web"), r.changesOf("uid-db"); web != 1 || db != 0 {
		t.Errorf("woken %d and %d times, want 1 and 0", web, db)
	}
	r.Release("uid-web")
	r.read(t, false, map[string]string{"/objects/a.yaml": config("three")})
	if n := r.changesOf("uid-web"); n != 1 {
		t.Errorf("woken %d times after it is gone", n)
	}
}

// TestDirectory_isApartFromTheCluster checks that the directory and the cluster may have
// different objects with the same name.
func TestDirectory_isApartFromTheCluster(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.server.set(configs, "x", kinds["ConfigMap"].object("the cluster's"))
	if _, err := r.ConfigMap(t.Context(), staticPod("web"), "x"); err == nil || !strings.Contains(err.Error(), "/objects was not read yet") {
		t.Errorf("before the directory is read: %v", err)
	}
	r.read(t, true, map[string]string{"/objects/a.yaml": config("the node's")})
	theirs, err := kinds["ConfigMap"].get(t, r, "web2")
	if own := r.text(t, "web"); own != "the node's" || theirs != "the cluster's" || err != nil {
		t.Errorf("a static pod has %q, one of the API server %q, %v", own, theirs, err)
	}
	r.read(t, true, nil)
	if _, err := r.ConfigMap(t.Context(), staticPod("web"), "x"); !apierrors.IsNotFound(err) {
		t.Errorf("a static pod gets an object of the cluster: %v", err)
	}
}

// TestDirectory_thatIsNotConfigured checks that objects are reported as not found at once if no
// directory is configured.
func TestDirectory_thatIsNotConfigured(t *testing.T) {
	t.Parallel()
	p := New(Config{Now: time.Now})
	_, err := p.ConfigMap(t.Context(), staticPod("web"), "x")
	if !apierrors.IsNotFound(err) || !strings.Contains(err.Error(), "agent.toml names no directory of objects ([objects] dir)") {
		t.Error(err)
	}
}

// TestDirectory_knowsWhatWasRightAfterARestart checks that the last valid version of an object
// is used after a restart, also for a Secret, whose copy is encrypted.
func TestDirectory_knowsWhatWasRightAfterARestart(t *testing.T) {
	t.Parallel()
	d := &disk{records: map[string]state.Object{}}
	secret := "apiVersion: v1\nkind: Secret\nmetadata: {name: x, namespace: shop}\nstringData: {text: one}\n"
	before := newRigOn(t, nil, d)
	before.read(t, true, map[string]string{"/objects/a.yaml": secret})
	if _, err := before.Secret(t.Context(), staticPod("web"), "x"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "kept", "local Secret shop/x", d.keys)

	for name, read := range map[string]func(r *rig){
		"cannot be read": func(r *rig) { r.Directory().Health(errors.New("/objects has mode 0755")) },
		"has a fault now": func(r *rig) {
			r.read(t, true, map[string]string{"/objects/a.yaml": strings.Replace(secret, "text: one", "text: 1", 1)})
		},
	} {
		after := newRigOn(t, nil, d)
		read(after)
		s, err := after.Secret(t.Context(), staticPod("web"), "x")
		if err != nil || string(s.Data["text"]) != "one" {
			t.Errorf("where it %s: %v, %v", name, s, err)
		}
	}
	after := newRigOn(t, nil, d)
	after.read(t, true, nil)
	if _, err := after.Secret(t.Context(), staticPod("web"), "x"); !apierrors.IsNotFound(err) {
		t.Errorf("where it is gone: %v", err)
	}
	after.Release("uid-web")
	eventually(t, "kept after the last pod", "", d.keys)
}

// TestPlane_listsObjectsWithoutTheirValues checks the list that wardlet get objects shows.
func TestPlane_listsObjectsWithoutTheirValues(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.server.set(configs, "x", kinds["ConfigMap"].object("hunter2"))
	if _, err := kinds["ConfigMap"].get(t, r, "api"); err != nil {
		t.Fatal(err)
	}
	_, _ = kinds["Secret"].get(t, r, "api")
	r.read(t, true, map[string]string{
		"/objects/a.yaml": config("hunter2"), "/objects/b.yaml": strings.Replace(config("5"), "name: x", "name: bad", 1),
	})
	r.text(t, "web")
	list := r.List(func(uid types.UID) string { return "shop/" + strings.TrimPrefix(string(uid), "uid-") })
	slices.SortFunc(list, api.CompareObjects)
	var got []string
	for _, o := range list {
		got = append(got, strings.TrimSpace(fmt.Sprint(o.Kind, " ", o.Namespace, "/", o.Name, " local=", o.Local, " ", o.Document, " known=", o.Known, " found=", o.Found, " ", o.Keys, " ", o.Bytes, " ", o.UsedBy, " ", o.Err)))
	}
	want := []string{
		" shop/bad local=true /objects/b.yaml#0 known=false found=false [] 0 [] /objects/b.yaml:4: data[text]: expected a string, got a number; put it in quotes",
		"ConfigMap shop/x local=false  known=true found=true [text] 7 [shop/api]",
		"ConfigMap shop/x local=true /objects/a.yaml#0 known=true found=true [text] 7 [shop/web]",
		"Secret shop/x local=false  known=true found=false [] 0 [shop/api]",
	}
	for i := range want {
		want[i] = strings.TrimSpace(want[i])
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestPlane_keepsAgainWhatADiskHadNoRoomFor checks that an object is stored later if the disk
// is full. Otherwise the next agent would use an older copy.
func TestPlane_keepsAgainWhatADiskHadNoRoomFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &disk{records: map[string]state.Object{}, full: true}
		r := &rig{Objects: New(Config{Dir: "/objects", Disk: d, Changed: func(types.UID) {}, Logger: slog.New(slog.DiscardHandler), Now: time.Now})}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { r.Run(ctx) })
		r.read(t, true, map[string]string{"/objects/a.yaml": config("one")})
		r.text(t, "web")
		if keys := d.keys(); keys != "" {
			t.Errorf("a full disk keeps %q", keys)
		}
		d.mu.Lock()
		d.full = false
		d.mu.Unlock()
		time.Sleep(keepPeriod + time.Second)
		if keys := d.keys(); keys != "local ConfigMap shop/x" {
			t.Errorf("with room again it keeps %q", keys)
		}
		cancel()
		running.Wait()
	})
}
