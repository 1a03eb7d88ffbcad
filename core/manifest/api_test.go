package manifest

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/pod"
)

var testAPI = APIFrom{Source: "cluster", Server: "https://192.0.2.1:6443", NodeName: "node-1"}

// apiPod returns a pod as an API server sends it to a node, with defaults filled in.
func apiPod(t *testing.T) *v1.Pod {
	t.Helper()
	text, err := os.ReadFile("testdata/api/web.json")
	if err != nil {
		t.Fatal(err)
	}
	p := &v1.Pod{}
	if err := json.Unmarshal(text, p); err != nil {
		t.Fatal(err)
	}
	return p
}

// merge applies a JSON merge patch to a pod. A list in the patch replaces the whole list of the
// pod.
func merge(t *testing.T, p *v1.Pod, patch string) {
	t.Helper()
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var whole, over map[string]any
	for text, into := range map[string]*map[string]any{string(text): &whole, patch: &over} {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
	}
	overlay(whole, over)
	if text, err = json.Marshal(whole); err != nil {
		t.Fatal(err)
	}
	*p = v1.Pod{}
	if err := json.Unmarshal(text, p); err != nil {
		t.Fatal(err)
	}
}

func overlay(whole, over map[string]any) {
	for key, value := range over {
		inner, ok := value.(map[string]any)
		outer, have := whole[key].(map[string]any)
		if ok && have {
			overlay(outer, inner)
		} else {
			whole[key] = value
		}
	}
}

func TestFromAPI(t *testing.T) {
	t.Parallel()
	d := FromAPI(apiPod(t), testAPI)
	if d.Err != nil {
		t.Fatal(d.Err)
	}
	if d.Source != "cluster" || d.ID != "default/web" || d.Version != "4711" {
		t.Errorf("document %+v", d)
	}
	p := d.Pod
	if p.Kind != "Pod" || p.APIVersion != "v1" || p.ManagedFields != nil || p.Annotations[pod.AnnotationSource] != pod.SourceAPI ||
		p.UID != "0c5d2f6e-5d5e-4d9c-9a43-0d5f0b7d8f11" || p.Status.Phase != v1.PodPending || pod.IsStatic(p) {
		t.Errorf("pod %+v", p)
	}
}

// TestAPIFieldsThatMayStand checks that a pod is accepted with fields that the API server fills
// in or that the scheduler and the API server have already acted on.
func TestAPIFieldsThatMayStand(t *testing.T) {
	t.Parallel()
	for name, patch := range map[string]string{
		"tolerations":                           `{"spec":{"tolerations":[{"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}]}}`,
		"node selectors and affinity":           `{"spec":{"nodeSelector":{"a":"b"},"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["node-1"]}]}]}}}}}`,
		"spreading":                             `{"spec":{"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"a","whenUnsatisfiable":"DoNotSchedule"}]}}`,
		"another scheduler":                     `{"spec":{"schedulerName":"mine"}}`,
		"a priority and its class":              `{"spec":{"priority":2000001000,"priorityClassName":"system-node-critical","preemptionPolicy":"Never"}}`,
		"a service account without token":       `{"spec":{"serviceAccountName":"web","serviceAccount":"web","automountServiceAccountToken":true}}`,
		"a system, to be judged":                `{"spec":{"os":{"name":"windows"}}}`,
		"operators of a newer server":           `{"spec":{"tolerations":[{"key":"a","operator":"Lt","value":"5"}],"nodeSelector":{"a":"b/c"}}}`,
		"a class of the cluster":                `{"spec":{"priority":5,"priorityClassName":"mine"}}`,
		"another number for a class":            `{"spec":{"priority":5,"priorityClassName":"system-node-critical"}}`,
		"sysctls that do not fit, to be judged": `{"spec":{"hostNetwork":true,"securityContext":{"sysctls":[{"name":"net.core.somaxconn","value":"1"}]}}}`,
		"a profile":                             `{"spec":{"securityContext":{"appArmorProfile":{"type":"RuntimeDefault"}}}}`,
		"users and groups":                      `{"spec":{"securityContext":{"runAsUser":1,"runAsGroup":2,"runAsNonRoot":true,"fsGroup":3,"fsGroupChangePolicy":"Always","supplementalGroups":[4],"supplementalGroupsPolicy":"Strict","seccompProfile":{"type":"RuntimeDefault"}}}}`,
		"privileges":                            `{"spec":{"hostPID":true,"hostIPC":true,"containers":[{"name":"c","image":"i","securityContext":{"privileged":true,"capabilities":{"add":["NET_ADMIN"],"drop":["ALL"]},"readOnlyRootFilesystem":true}}]}}`,
		"names":                                 `{"spec":{"hostname":"a","subdomain":"b","setHostnameAsFQDN":true,"hostAliases":[{"ip":"192.0.2.1","hostnames":["a.b"]}]}}`,
		"name servers":                          `{"spec":{"dnsPolicy":"None","dnsConfig":{"nameservers":["192.0.2.1"],"searches":["a.b"],"options":[{"name":"ndots","value":"2"},{"name":"rotate"}]}}}`,
		"values of fields":                      `{"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"A","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.labels['a']"}}},{"name":"B","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu","divisor":"1m"}}}]}]}}`,
		"the token of a service account":        `{"spec":{"volumes":[{"name":"kube-api-access-x","projected":{"defaultMode":420,"sources":[{"serviceAccountToken":{"path":"token","expirationSeconds":3607}},{"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}},{"downwardAPI":{"items":[{"path":"namespace","fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespace"}}]}}]}}]}}`,
		"gates and another host name":           `{"spec":{"hostnameOverride":"a.b","readinessGates":[{"conditionType":"a/b"}]}}`,
		"a runtime class":                       `{"spec":{"runtimeClassName":"a.b","overhead":{"cpu":"250m","memory":"120Mi"}}}`,
		"a deadline":                            `{"spec":{"activeDeadlineSeconds":5}}`,
		"disks that are set aside":              `{"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"ephemeral-storage":"1Gi"}}}]}}`,
		"disks of a container":                  `{"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"ephemeral-storage":"1Gi"}}}]}}`,
		"how resources may change":              `{"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}},"resizePolicy":[{"resourceName":"cpu","restartPolicy":"NotRequired"}]}]}}`,
		"owners, finalizers, generation":        `{"metadata":{"generation":3,"generateName":"web-","finalizers":["a/b"],"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","uid":"u","controller":true}]}}`,
		"any status":                            `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}],"podIPs":[{"ip":"192.0.2.7"}],"initContainerStatuses":[{"name":"i","ready":true,"restartCount":0,"image":"i","imageID":"i"}]}}`,
		"other annotations":                     `{"metadata":{"annotations":{"kubernetes.io/config.seen":"x","kubernetes.io/config.source":"file","wardlet.dev/identity":"web","example.org/a":"b"}}}`,
		"host network":                          `{"spec":{"hostNetwork":true,"dnsPolicy":"ClusterFirstWithHostNet","containers":[{"name":"c","image":"i","ports":[{"containerPort":80,"hostPort":80,"protocol":"TCP"}]}]}}`,
		"volumes that are honoured":             `{"spec":{"volumes":[{"name":"a","hostPath":{"path":"/a","type":""}},{"name":"b","emptyDir":{}}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := apiPod(t)
			merge(t, p, patch)
			d := FromAPI(p, testAPI)
			if d.Err != nil {
				t.Fatalf("refused: %v", d.Err)
			}
			if err := Unsupported(d.Pod); err != nil {
				t.Errorf("unsupported: %v", err)
			}
			if pod.IsStatic(d.Pod) {
				t.Error("taken for a static pod")
			}
		})
	}
}

// refusals are patches that make a pod unsupported or invalid, and what the error must contain.
var refusals = map[string]struct{ patch, want string }{
	"an init container's hook":  {`{"spec":{"initContainers":[{"name":"i","image":"i","lifecycle":{"preStop":{"exec":{"command":["a"]}}}}]}}`, "spec.initContainers[0].lifecycle: Forbidden: may not be set for init containers"},
	"an init container's name":  {`{"spec":{"initContainers":[{"name":"c","image":"i"}]}}`, `spec.initContainers[0].name: Duplicate value: "c"`},
	"an ephemeral target":       {`{"spec":{"ephemeralContainers":[{"name":"i","image":"i","targetContainerName":"x"}]}}`, `spec.ephemeralContainers[0].targetContainerName: Not found: "x"`},
	"a liveness probe":          {`{"spec":{"containers":[{"name":"c","image":"i","livenessProbe":{"tcpSocket":{"port":1},"successThreshold":2}}]}}`, "spec.containers[0].livenessProbe.successThreshold: Invalid value: 2"},
	"a signal that is none":     {`{"spec":{"os":{"name":"linux"},"containers":[{"name":"c","image":"i","lifecycle":{"stopSignal":"SIGRTMIN+16"}}]}}`, "spec.containers[0].lifecycle.stopSignal: Unsupported value: \"SIGRTMIN+16\": supported values: \"SIGABRT\""},
	"values from elsewhere":     {`{"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"A","valueFrom":{"fileKeyRef":{"volumeName":"a","path":"p","key":"b"}}}]}]}}`, "spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName: Not found"},
	"a file of another volume":  {`{"spec":{"volumes":[{"name":"a","hostPath":{"path":"/a"}}],"containers":[{"name":"c","image":"i","env":[{"name":"A","valueFrom":{"fileKeyRef":{"volumeName":"a","path":"../p","key":"b"}}}]}]}}`, "spec.containers[0].env[0].valueFrom.fileKeyRef.path: Invalid value"},
	"values from two places":    {`{"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"A","valueFrom":{"secretKeyRef":{"name":"a","key":"b"},"fieldRef":{"fieldPath":"metadata.name"}}}]}]}}`, "spec.containers[0].env[0].valueFrom: Invalid value"},
	"a key that is none":        {`{"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"A","valueFrom":{"secretKeyRef":{"name":"a","key":"a/b"}}}]}]}}`, "spec.containers[0].env[0].valueFrom.secretKeyRef.key: Invalid value"},
	"environments of nothing":   {`{"spec":{"containers":[{"name":"c","image":"i","envFrom":[{"prefix":"a"}]}]}}`, "spec.containers[0].envFrom[0]: Invalid value"},
	"an environment of no name": {`{"spec":{"containers":[{"name":"c","image":"i","envFrom":[{"secretRef":{}}]}]}}`, "spec.containers[0].envFrom[0].secretRef.name: Required value"},
	"a part of a volume":        {`{"spec":{"volumes":[{"name":"v","hostPath":{"path":"/v"}}],"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"v","mountPath":"/v","subPath":"a/../b"}]}]}}`, "spec.containers[0].volumeMounts[0].subPath: Invalid value"},
	"two parts of a volume":     {`{"spec":{"volumes":[{"name":"v","hostPath":{"path":"/v"}}],"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"v","mountPath":"/v","subPath":"a","subPathExpr":"b"}]}]}}`, "spec.containers[0].volumeMounts[0].subPathExpr: Invalid value"},
	"mounts that spread":        {`{"spec":{"volumes":[{"name":"v","hostPath":{"path":"/v"}}],"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"v","mountPath":"/v","mountPropagation":"Bidirectional"}]}]}}`, "spec.containers[0].volumeMounts[0].mountPropagation: Forbidden"},
	"a restart policy for one":  {`{"spec":{"containers":[{"name":"c","image":"i","restartPolicy":"Once"}]}}`, `spec.containers[0].restartPolicy: Unsupported value: "Once"`},
	"huge pages":                {`{"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"hugepages-2Mi":"1Mi"}}}]}}`, "spec.containers[0].resources.limits[hugepages-2Mi]: Invalid value"},
	"claims":                    {`{"spec":{"volumes":[{"name":"a","persistentVolumeClaim":{"claimName":"s"}}]}}`, "spec.volumes[0].persistentVolumeClaim: not supported"},
	"a deadline that is none":   {`{"spec":{"activeDeadlineSeconds":0}}`, "spec.activeDeadlineSeconds: Invalid value: 0"},
	"resources of the whole":    {`{"spec":{"resources":{"limits":{"ephemeral-storage":"1"}},"imagePullSecrets":[]}}`, "spec.resources.limits[ephemeral-storage]: not supported by this version yet"},
	"an overhead of its own":    {`{"spec":{"runtimeClassName":"a","overhead":{"example.com/gpu":"1"}}}`, "spec.overhead[example.com/gpu]: not supported by this version yet"},
	"a class that is none":      {`{"spec":{"runtimeClassName":"A"}}`, `spec.runtimeClassName: Invalid value: "A"`},
	"a system that is none":     {`{"spec":{"os":{"name":"plan9"}}}`, `spec.os.name: Unsupported value: "plan9"`},
	"another node":              {`{"spec":{"nodeName":"node-2"}}`, `spec.nodeName: Invalid value: "node-2": this node is "node-1"; what answers does not honour the field selector`},
	"a UID that is a path":      {`{"metadata":{"uid":"../../etc"}}`, `metadata.uid: Invalid value: "../../etc"`},
	"no UID":                    {`{"metadata":{"uid":""}}`, "metadata.uid: Invalid value"},
	"a name that is a path":     {`{"metadata":{"name":"../a"}}`, `metadata.name: Invalid value: "../a"`},
	"no namespace":              {`{"metadata":{"namespace":""}}`, "metadata.namespace: Invalid value"},
	"no version":                {`{"metadata":{"resourceVersion":""}}`, "metadata.resourceVersion: Required value"},
	"marks of sandboxes":        {`{"metadata":{"annotations":{"wardlet.dev/installation":"x"}}}`, "metadata.annotations[wardlet.dev/installation]: Forbidden"},
	"an identity that is none":  {`{"metadata":{"annotations":{"wardlet.dev/identity":"a/b"}}}`, `metadata.annotations[wardlet.dev/identity]: Invalid value: "a/b"`},
	"no containers":             {`{"spec":{"containers":[]}}`, "spec.containers: Required value"},
	"what an API server denies": {`{"spec":{"containers":[{"name":"c","image":"i"},{"name":"c","image":"i"}]}}`, "spec.containers[1].name: Duplicate value"},
}

// TestAPIFieldsThatAreRefused checks that a pod with an unsupported field is refused with the
// name of the field, and that a pod that is invalid on this node is a document with an error
// that begins with the pod's URL.
func TestAPIFieldsThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, test := range refusals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := apiPod(t)
			merge(t, p, test.patch)
			place := "https://192.0.2.1:6443/api/v1/namespaces/" + p.Namespace + "/pods/" + strings.ReplaceAll(p.Name, "/", "%2F") + ": "
			d := FromAPI(p, testAPI)
			if d.ID != p.Namespace+"/"+p.Name || d.Version != p.ResourceVersion {
				t.Errorf("document %+v", d)
			}
			if d.Err == nil {
				if err := Unsupported(d.Pod); err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("got  %v\nwant %s", err, test.want)
				}
				return
			}
			if !strings.Contains(d.Err.Error(), test.want) || !strings.HasPrefix(d.Err.Error(), place) || d.Pod != nil {
				t.Errorf("got  %v\nwant %s%s", d.Err, place, test.want)
			}
		})
	}
}

// TestAPIPodsThatStartNothing checks that mirror pods, terminated pods and pods that are being
// deleted are accepted with any spec. Otherwise the agent would miss their termination.
func TestAPIPodsThatStartNothing(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*v1.Pod){
		"a mirror pod":       func(p *v1.Pod) { p.Annotations[pod.AnnotationMirror] = "x" },
		"one that failed":    func(p *v1.Pod) { p.Status.Phase = v1.PodFailed },
		"one that succeeded": func(p *v1.Pod) { p.Status.Phase = v1.PodSucceeded },
		"one that is to end": func(p *v1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: time.Unix(1e9, 0)} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for what, test := range refusals {
				if !strings.HasPrefix(test.want, "spec.") || what == "another node" {
					continue
				}
				p := apiPod(t)
				merge(t, p, test.patch)
				volumes := len(p.Spec.Volumes)
				change(p)
				if d := FromAPI(p, testAPI); d.Err != nil || Unsupported(d.Pod) != nil {
					t.Errorf("%s: refused: %v", what, d.Err)
				} else if len(d.Pod.Spec.Volumes) != volumes || volumes > 0 && d.Pod.Spec.Volumes[0].EmptyDir != nil {
					t.Errorf("%s: changed: %+v", what, d.Pod.Spec)
				}
			}
			p := apiPod(t)
			change(p)
			p.Spec.NodeName = "node-2"
			if d := FromAPI(p, testAPI); d.Err == nil {
				t.Error("accepted from another node")
			}
		})
	}
}

// FuzzFromAPI checks that every pod of a server becomes a document with either a valid pod or
// an error, and never with both.
func FuzzFromAPI(f *testing.F) {
	text, err := os.ReadFile("testdata/api/web.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	for _, test := range refusals {
		f.Add([]byte(test.patch))
	}
	f.Add([]byte(`{"metadata":{"name":"a","namespace":"b","uid":"c","resourceVersion":"1"},"spec":{"nodeName":"node-1","containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1"}}}],"volumes":[{"name":"v","hostPath":{"path":"/a"}},{"name":"w"}]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		p := &v1.Pod{}
		if json.Unmarshal(text, p) != nil {
			return
		}
		d := FromAPI(p, testAPI)
		if (d.Pod == nil) == (d.Err == nil) {
			t.Fatalf("document %+v", d)
		}
		if d.Pod == nil {
			return
		}
		if d.Pod.Spec.TerminationGracePeriodSeconds == nil || d.Pod.Spec.NodeName != testAPI.NodeName || pod.IsStatic(d.Pod) {
			t.Fatalf("pod %+v", d.Pod)
		}
		if _, err := pod.Instance(d.Pod); err != nil {
			t.Fatal(err)
		}
		_ = Unsupported(d.Pod) // must not panic
	})
}

// TestFromAPI_keepsVolumes checks that only a volume without a source becomes an emptyDir.
func TestFromAPI_keepsVolumes(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]v1.VolumeSource{
		"secret":      {Secret: &v1.SecretVolumeSource{SecretName: "s"}},
		"configMap":   {ConfigMap: &v1.ConfigMapVolumeSource{}},
		"downwardAPI": {DownwardAPI: &v1.DownwardAPIVolumeSource{}},
		"projected":   {Projected: &v1.ProjectedVolumeSource{}},
	} {
		p := apiPod(t)
		p.Spec.Volumes = []v1.Volume{{Name: "v", VolumeSource: source}, {Name: "none"}}
		d := FromAPI(p, testAPI)
		if d.Err != nil {
			t.Errorf("%s: %v", name, d.Err)
			continue
		}
		if got := d.Pod.Spec.Volumes; !equality.Semantic.DeepEqual(got[0].VolumeSource, source) || got[1].EmptyDir == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
