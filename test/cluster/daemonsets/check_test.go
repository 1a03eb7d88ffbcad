package daemonsets

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// somePod has one example of most things that Check compares.
const somePod = `metadata: {name: web-1, namespace: shop, uid: u1}
spec:
  nodeName: node1
  serviceAccountName: web
  hostNetwork: true
  containers:
  - name: web
    image: registry.example/web:1
    args: ["--on=$(NODE)"]
    env:
    - {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
    - {name: LEVEL, valueFrom: {configMapKeyRef: {name: web, key: level}}}
    - {name: KEY, valueFrom: {secretKeyRef: {name: web, key: key, optional: true}}}
    securityContext:
      runAsUser: 1000
      runAsGroup: 1000
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities: {drop: [ALL], add: [NET_BIND_SERVICE]}
      seccompProfile: {type: RuntimeDefault}
    volumeMounts:
    - {name: configuration, mountPath: /etc/web/}
    - {name: token, mountPath: /token, readOnly: true}
    - {name: work, mountPath: /work, mountPropagation: HostToContainer}
    - {name: machine, mountPath: /machine, readOnly: true}
  volumes:
  - {name: configuration, configMap: {name: web, items: [{key: level, path: of/level}]}}
  - {name: token, projected: {sources: [{serviceAccountToken: {path: token, audience: shop}}]}}
  - {name: work, emptyDir: {}}
  - {name: machine, hostPath: {path: /proc}}
`

// itsReport is the report of a stand-in in somePod without any difference.
const itsReport = `{"args": ["/standin", "--on=node1"], "env": {"NODE": "node1", "LEVEL": "info", "HOME": "/"},
"uid": 1000, "gid": 1000, "groups": [1000],
"status": {"CapBnd": "0000000000000400", "CapEff": "0000000000000000", "NoNewPrivs": "1", "Seccomp": "2"},
"namespaces": {"net": "OWN-net", "pid": "pid:[1]", "ipc": "ipc:[1]"}, "readOnlyRoot": true, "mounts": {
"/etc/web": {"directory": true, "readOnly": true, "propagation": "private", "unwritable": "open: read-only file system", "files": {"of/level": "DIGEST"}},
"/token": {"directory": true, "readOnly": true, "propagation": "private", "unwritable": "open: read-only file system", "files": {"token": "123"},
  "tokens": {"token": {"sub": "system:serviceaccount:shop:web", "aud": ["shop"], "kubernetes.io": {"pod": {"name": "web-1", "uid": "u1"}}}}},
"/work": {"directory": true, "readOnly": false, "propagation": "slave", "files": {}},
"/machine": {"directory": true, "readOnly": true, "propagation": "private", "unwritable": "read-only file system", "files": {"1": ""}}}}`

// TestCheck_findsWhatIsOtherwise: the error names each difference that a stand-in may find.
func TestCheck_findsWhatIsOtherwise(t *testing.T) {
	t.Parallel()
	own, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	report := strings.NewReplacer("OWN-net", own, "DIGEST", digest("info"), "\n", "").Replace(itsReport)
	for _, tc := range []struct{ what, old, new, want string }{
		{"nothing", "", "", ""},
		{"the report", `{"args"`, `args`, "no report in the log"},
		{"an argument", `"--on=node1"`, `"--on=$(NODE)"`, "arguments: found"},
		{"a variable of a field", `"NODE": "node1"`, `"NODE": "node2"`, `variable NODE: found "node2" (true), want "node1"`},
		{"a variable of a ConfigMap", `"LEVEL": "info", `, ``, `variable LEVEL: found "" (false), want "info"`},
		{"a variable that is not there", `"HOME"`, `"KEY"`, `variable KEY: found "/", want none`},
		{"the user", `"uid": 1000, "gid"`, `"uid": 0, "gid"`, "user: found 0, want 1000"},
		{"the group", `"gid": 1000`, `"gid": 0`, "group: found 0, want 1000"},
		{"capabilities", "0400", "0401", "capabilities: found 0000000000000401, want 0000000000000400"},
		{"privileges", `"NoNewPrivs": "1"`, `"NoNewPrivs": "0"`, "no new privileges: found false, want true"},
		{"seccomp", `"Seccomp": "2"`, `"Seccomp": "0"`, "seccomp: found 0, want 2"},
		{"the root", `"readOnlyRoot": true`, `"readOnlyRoot": false`, "read-only root: found false, want true"},
		{"the network", own, "net:[1]", "namespace net is the machine's: found false, want true"},
		{"a mount", `"/work"`, `"/other"`, "mount /work is not in the report"},
		{"what a file says", digest("info"), digest("debug"), "/etc/web: found the files"},
		{"which files there are", `"of/level"`, `"level"`, "/etc/web: found the files"},
		{"whether objects can be written", "open: read-only file system", "", "/etc/web: an object can be written"},
		{"propagation", `"slave"`, `"private"`, "/work: propagation: found private, want slave"},
		{"whether it is read-only", `"readOnly": false`, `"readOnly": true`, "/work: read-only: found true, want false"},
		{"the token", `"aud"`, `"other"`, "/token: audience of the token: found [], want [shop]"},
		{"the pod of the token", `"uid": "u1"`, `"uid": "u2"`, "/token: pod of the token: found web-1 u2, want web-1 u1"},
		{"a directory of the machine", `{"1": ""}`, `{}`, "/machine: nothing is there"},
	} {
		t.Run(tc.what, func(t *testing.T) {
			t.Parallel()
			var pod v1.Pod
			if err := yaml.UnmarshalStrict([]byte(somePod), &pod); err != nil {
				t.Fatal(err)
			}
			objects := &Objects{ConfigMaps: map[string]v1.ConfigMap{"web": {Data: map[string]string{"level": "info"}}}}
			said := strings.Replace(report, tc.old, tc.new, 1)
			if tc.old != "" && said == report {
				t.Fatalf("%q is not in the report", tc.old)
			}
			err := (&Set{host: "/nowhere"}).Check(&pod, objects, func(string) (string, error) { return "first\nstandin: " + said + "\n", nil })
			switch {
			case tc.want == "" && err != nil:
				t.Error(err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

// TestRewrite_leavesNothingOfTheMachine: no volume of a pod is a path of the machine to which a
// container could write, and no image is pulled.
func TestRewrite_leavesNothingOfTheMachine(t *testing.T) {
	t.Parallel()
	sets, err := Read("../testdata")
	if err != nil {
		t.Fatal(err)
	}
	host := t.TempDir()
	for _, s := range sets {
		if err := s.Rewrite(host); err != nil {
			t.Fatal(err)
		}
		list, err := List([]*Set{s})
		if err != nil {
			t.Fatal(err)
		}
		var objects v1.List
		if err := json.Unmarshal([]byte(list), &objects); err != nil || len(objects.Items) < 3 {
			t.Errorf("%s has %d objects, %v", s.Name, len(objects.Items), err)
		}
		for _, w := range s.Workloads {
			template, _ := w.template()
			for _, c := range append(template.Spec.InitContainers, template.Spec.Containers...) {
				if c.ImagePullPolicy != v1.PullNever || !strings.HasPrefix(c.Image, "registry.wardlet.test/standin:") {
					t.Errorf("%s: container %s has image %s", w, c.Name, c.Image)
				}
				for _, m := range c.VolumeMounts {
					for _, v := range template.Spec.Volumes {
						if v.Name == m.Name && v.HostPath != nil && !m.ReadOnly && !strings.HasPrefix(v.HostPath.Path, host+"/"+s.Name+"/") {
							t.Errorf("%s: container %s may write to %s", w, c.Name, v.HostPath.Path)
						}
					}
				}
			}
		}
	}
}
