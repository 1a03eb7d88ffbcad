package mutate

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/manifest"
	"github.com/wardlet/wardlet/core/pod"
)

const webManifest = `
apiVersion: v1
kind: Pod
metadata:
  name: web
  namespace: shop
  labels: {app: web, example.org/tier: front}
  annotations: {example.org/owner: me, example.org/a.b: "1", wardlet.dev/identity: web}
spec:
  containers:
  - name: app
    image: registry.example/web:1
    env: [{name: A, value: "1"}, {name: B, value: "2"}]
    ports: [{name: http, containerPort: 80}]
    resources: {limits: {cpu: "1", memory: 64Mi}, requests: {cpu: 100m}}
    volumeMounts: [{name: data, mountPath: /data}]
  - name: log
    image: registry.example/log:2
  volumes:
  - {name: data, emptyDir: {}}
  - {name: host, hostPath: {path: /srv}}
`

const webOfAPI = `{"apiVersion":"v1","kind":"Pod",
"metadata":{"name":"web-1","generateName":"web-","namespace":"shop","uid":"0c5d2f6e-5d5e-4d9c-9a43-0d5f0b7d8f11","resourceVersion":"4711","generation":1,
 "creationTimestamp":"2026-11-21T16:00:00Z","labels":{"app":"web"},"annotations":{"example.org/owner":"me"},"finalizers":["example.org/a"],
 "ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","uid":"u","controller":true}],
 "managedFields":[{"manager":"test","operation":"Update"}]},
"spec":{"automountServiceAccountToken":false,"serviceAccount":"default","serviceAccountName":"default","nodeName":"node-1","dnsPolicy":"ClusterFirst",
 "enableServiceLinks":true,"preemptionPolicy":"PreemptLowerPriority","priority":0,"restartPolicy":"Always","schedulerName":"default-scheduler",
 "securityContext":{},"terminationGracePeriodSeconds":30,
 "tolerations":[{"effect":"NoExecute","key":"node.kubernetes.io/not-ready","operator":"Exists","tolerationSeconds":300}],
 "containers":[
  {"name":"app","image":"registry.example/web:1","imagePullPolicy":"IfNotPresent","terminationMessagePath":"/dev/termination-log",
   "terminationMessagePolicy":"File","ports":[{"containerPort":80,"protocol":"TCP"}],
   "resources":{"limits":{"cpu":"1"},"requests":{"cpu":"100m"}},"volumeMounts":[{"name":"data","mountPath":"/data"}]},
  {"name":"log","image":"registry.example/log:2","imagePullPolicy":"IfNotPresent","terminationMessagePath":"/dev/termination-log",
   "terminationMessagePolicy":"File","resources":{}}],
 "volumes":[{"name":"data","emptyDir":{}},{"name":"host","hostPath":{"path":"/srv","type":""}}]},
"status":{"phase":"Running","qosClass":"Burstable"}}`

// staticPod returns the pod of webManifest as a source returns it.
func staticPod(tb testing.TB) *v1.Pod {
	tb.Helper()
	docs := manifest.Decode([]byte(webManifest), manifest.DecodeFrom{Source: "manifests", Kind: api.KindFile, File: "/m/web.yaml", NodeName: "Node-1"})
	if len(docs) != 1 || docs[0].Err != nil {
		tb.Fatalf("documents %+v", docs)
	}
	return docs[0].Pod
}

// apiPod returns the pod of webOfAPI as a source returns it.
func apiPod(tb testing.TB) *v1.Pod {
	tb.Helper()
	p := &v1.Pod{}
	must(tb, json.Unmarshal([]byte(webOfAPI), p))
	d := manifest.FromAPI(p, manifest.APIFrom{Source: pod.SourceAPI, Server: "https://192.0.2.1", NodeName: "node-1"})
	if d.Err != nil {
		tb.Fatal(d.Err)
	}
	return d.Pod
}

// everything returns a reach that includes all that a policy may change.
func everything(api bool) Reach {
	return Reach{Paths: []string{"/metadata", "/spec"}, API: api, MutateAPI: api}
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// applied applies a patch that must succeed, and checks that p stays unchanged.
func applied(tb testing.TB, p *v1.Pod, patch string, r Reach) Result {
	tb.Helper()
	was := p.DeepCopy()
	result, err := Apply(p, []byte(patch), r)
	if err != nil {
		tb.Fatalf("%s: %v", patch, err)
	}
	if d := cmp.Diff(was, p); d != "" {
		tb.Fatalf("%s changes the pod it is applied to: %s", patch, d)
	}
	return result
}

// refused applies a patch that must fail, and checks the error and that p stays unchanged.
func refused(tb testing.TB, p *v1.Pod, patch string, r Reach, as error, want string) {
	tb.Helper()
	was := p.DeepCopy()
	result, err := Apply(p, []byte(patch), r)
	switch {
	case err == nil:
		tb.Errorf("%s: applied, changes %v", patch, result.Changed)
	case !errors.Is(err, as) || !strings.Contains(err.Error(), want):
		tb.Errorf("%.300s:\n got %v\nwant %v: …%s", patch, err, as, want)
	case result.Pod != nil || result.Changed != nil:
		tb.Errorf("%s: a result comes with error %v", patch, err)
	case strings.ContainsAny(err.Error(), "\n\r\x1b") || len(err.Error()) > maxMessage+100:
		tb.Errorf("%s: not one short line: %q", patch, err)
	}
	if d := cmp.Diff(was, p); d != "" {
		tb.Errorf("%s changes the pod it is applied to: %s", patch, d)
	}
}

// textOf returns a value as JSON.
func textOf(tb testing.TB, value any) string {
	tb.Helper()
	text, err := json.Marshal(value)
	must(tb, err)
	return string(text)
}
