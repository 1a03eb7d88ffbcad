//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
)

// withObjects gives the agent a directory of objects.
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

// objectPod serves what it has of the objects.
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

// TestObjects_ofTheNodesDirectory: static pods have ConfigMaps and Secrets without an API server. What changes comes to those
// that run; what breaks takes nothing from them, nor from a new one.
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
	if found, err := a.remembered("hunter"); err != nil || len(found) > 0 {
		t.Error(fmt.Errorf("a secret can be read in %q, %w", found, err))
	}
	a.remove(t, "web.yaml", "second.yaml")
	a.nothingLeft(t, n)
}
