//go:build e2e

package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
)

// withObjects configures a directory of objects, and returns its path.
func (a *agent) withObjects(t *testing.T) (dir string) {
	t.Helper()
	dir = a.Path("objects")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	a.write(t, a.ConfigFile(), a.read(t, "agent.toml")+"[objects]\ndir = \""+dir+"\"\n")
	return dir
}

func configMap(text string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: app\ndata:\n  text: " + text + "\n"
}

const secret = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: login\nstringData:\n  password: hunter2\n"

// objectPod returns a pod that serves what it received from the objects.
func objectPod(name string) string {
	return strings.Replace(webPod(name), "    resources: {}\n  dns", `    resources: {}
    env:
    - name: PASSWORD
      valueFrom: {secretKeyRef: {name: login, key: password}}
    volumeMounts:
    - {name: app, mountPath: /app}
    - {name: all, mountPath: /all}
  volumes:
  - name: app
    configMap: {name: app}
  - name: all
    projected:
      sources:
      - secret: {name: login}
      - downwardAPI: {items: [{path: name, fieldRef: {fieldPath: metadata.name}}]}
  dns`, 1)
}

// TestObjects_ofTheNodesDirectory: static pods use ConfigMaps and Secrets without an API server.
// Running pods receive changes. An invalid file leaves the objects unchanged for running pods and
// for new ones.
func TestObjects_ofTheNodesDirectory(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "objects")
	dir := a.withObjects(t)
	a.start(t)
	a.manifest(t, "web.yaml", objectPod("web"))
	a.event(t, "web", "FailedMount", `configmaps "app" not found in `+dir, "put a manifest of it there, and the pod starts by itself")
	a.move(t, dir+"/app.yaml", configMap("one")+"---\n"+secret)
	p := a.running(t, "web")["web"]
	file := func(p v1.Pod, path string) string { return "http://" + p.Status.PodIP + ":8080/fs?path=" + path }
	answers(t, file(p, "/app/text"), "one")
	answers(t, file(p, "/all/password"), "hunter2")
	answers(t, file(p, "/all/name"), "web-objects")
	eventually(t, "the variable", func(ctx context.Context) error {
		body, err := get(ctx, "http://"+p.Status.PodIP+":8080/env")
		if err == nil && !strings.Contains(body, "PASSWORD=hunter2") {
			err = errors.New(body)
		}
		return err
	})

	a.move(t, dir+"/app.yaml", configMap("two")+"---\n"+secret)
	answers(t, file(p, "/app/text"), "two")
	a.move(t, dir+"/app.yaml", configMap("5")+"---\n"+strings.Replace(secret, "hunter2", "hunter3", 1))
	answers(t, file(p, "/all/password"), "hunter3")
	answers(t, file(p, "/app/text"), "two")
	a.says(t, "get objects", "ConfigMap", "app", "Secret", "login", "default/web-objects",
		dir+"/app.yaml:6: data[text]: expected a string, got a number; put it in quotes (what it was before stays in force)")

	a.kill()
	a.start(t)
	a.manifest(t, "second.yaml", objectPod("second"))
	answers(t, file(a.running(t, "second")["second"], "/app/text"), "two")
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	a.says(t, "get objects", dir+" has mode 0755: others than its owner may read it; run chmod 700 on it")
	a.move(t, dir+"/app.yaml", configMap("three"))
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	answers(t, file(p, "/app/text"), "three")
	answers(t, file(p, "/all/password"), "hunter3")

	out, err := a.wardlet("get", "objects", "-o", "json")
	log, logErr := os.ReadFile(a.LogFile())
	if err := errors.Join(err, logErr); err != nil || strings.Contains(out+string(log), "hunter") {
		t.Errorf("a secret is told, or %v", err)
	}
	for _, text := range []string{"hunter", "aHVudGVy"} { // in plain text, and in base64
		if found, err := a.remembered(text); err != nil || len(found) > 0 {
			t.Error(fmt.Errorf("a secret can be read in %q, %w", found, err))
		}
	}
	if kept, err := a.remembered("local Secret default/login"); err != nil || len(kept) != 1 {
		t.Error(fmt.Errorf("the secret is kept in %q, %w", kept, err))
	}
	a.remove(t, "web.yaml", "second.yaml")
	a.nothingLeft(t, n)
}

var (
	readers    = flag.Int("readers", 5, "how many pods read a ConfigMap that changes")
	changeTime = flag.Duration("changing", 3*time.Second, "for how long it changes")
)

// version returns a ConfigMap whose files all contain the number.
func version(n int) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: app\ndata:\n  a: \"%[1]d\"\n  b: \"%[1]d\"\n  c: \"%[1]d\"\n", n)
}

// reader returns a pod that exits when its files do not all have the same content.
func reader(name string) string {
	return hostPod(name, "agree", "/app", "a", "b", "c") +
		"    volumeMounts: [{name: app, mountPath: /app}]\n  restartPolicy: Never\n  volumes: [{name: app, configMap: {name: app}}]\n"
}

// TestObjects_aChangeIsSeenWhole: pods that read all files of a ConfigMap at one moment never see
// files of two versions, while the ConfigMap changes again and again. In the end all pods have the
// last version.
func TestObjects_aChangeIsSeenWhole(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "whole")
	dir := a.withObjects(t)
	a.move(t, dir+"/app.yaml", version(0))
	a.start(t)
	var names, files []string
	for i := range *readers {
		name := fmt.Sprintf("reader-%d", i)
		names, files = append(names, name), append(files, name+".yaml")
	}
	for some := range slices.Chunk(names, 20) {
		for _, name := range some {
			a.manifest(t, name+".yaml", reader(name))
		}
		a.running(t, some...)
	}
	last, again := 0, time.NewTicker(100*time.Millisecond)
	defer again.Stop()
	for began := time.Now(); time.Since(began) < *changeTime; <-again.C {
		last++
		a.move(t, dir+"/app.yaml", version(last))
	}
	for name, p := range a.running(t, names...) {
		a.says(t, "logs default/"+name+" --tail 1", strconv.Itoa(last))
		if c := p.Status.ContainerStatuses[0]; c.RestartCount != 0 || c.State.Running == nil {
			t.Errorf("%s: %+v", name, c.State)
		}
	}
	a.running(t, names...)
	a.remove(t, files...)
	a.nothingLeft(t, n)
}

// TestObjects_killedAtAnyStepOfAChange: an agent that is killed while it updates files leaves
// either all old files or all new ones. The next agent has the new files, and leaves nothing of
// the old ones.
func TestObjects_killedAtAnyStepOfAChange(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := &crashing{agent: newAgent(t, n, "torn"), node: n}
	binary, err := crashingBinary()
	if err != nil {
		t.Fatal(err)
	}
	a.Program, a.file = binary, a.Path("crash")
	a.Env = append(a.Env, "WARDLET_CRASH_FILE="+a.file)
	dir := a.withObjects(t)
	a.move(t, dir+"/app.yaml", version(0))
	a.start(t)
	a.manifest(t, "reader.yaml", reader("reader"))
	p := a.running(t, "reader")["reader"]
	files := a.Path("root", "pods", string(p.UID), "volumes", "kubernetes.io~configmap", "app")
	// now returns the content of all files that are visible at one moment.
	now := func() (text string, err error) {
		at, err := filepath.EvalSymlinks(filepath.Join(files, "..data"))
		if err != nil {
			return "", err
		}
		for _, name := range []string{"a", "b", "c"} {
			one, err := os.ReadFile(filepath.Join(at, name))
			switch {
			case err != nil:
				return "", err
			case text != "" && string(one) != text:
				t.Errorf("%s says %q, others %q", name, one, text)
			}
			text = string(one)
		}
		return text, nil
	}
	for i, step := range []struct {
		point string
		// behind is how many versions the files are older than the object when the agent is killed.
		behind int
	}{{"files written", 1}, {"files linked", 1}, {"files in force", 0}} {
		a.armed(t, step.point)
		a.move(t, dir+"/app.yaml", version(i+1))
		a.dies(t, step.point)
		if got, err := now(); err != nil || got != strconv.Itoa(i+1-step.behind) {
			t.Errorf("killed at %q: the files say %q, want %d; %v", step.point, got, i+1-step.behind, err)
		}
		a.start(t)
		eventually(t, "the files are new", func(context.Context) error {
			got, err := now()
			entries, listed := os.ReadDir(files)
			if err = errors.Join(err, listed); err == nil && (got != strconv.Itoa(i+1) || len(entries) != 5) { // ..data, its target, and the links
				err = fmt.Errorf("killed at %q, after that: the files say %s, and there are %v", step.point, got, entries)
			}
			return err
		})
	}
	if c := a.running(t, "reader")["reader"].Status.ContainerStatuses[0]; c.RestartCount != 0 {
		t.Errorf("the pod is %+v", c)
	}
	a.remove(t, "reader.yaml")
	a.nothingLeft(t, n)
}
