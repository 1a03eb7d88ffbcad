package manifest

import (
	"slices"
	"strings"
)

// full sets every supported field to a value that changes the pod.
const full = `
apiVersion: v1
kind: Pod
metadata:
  name: web
  namespace: edge
  uid: 0b2f9e4c-6f0f-4b6e-9d1e-1d5a0c9f3a11
  creationTimestamp: null
  labels: {app: web, tier: ""}
  annotations: {note: some text}
spec:
  restartPolicy: OnFailure
  terminationGracePeriodSeconds: 5
  dnsPolicy: Default
  hostNetwork: false
  nodeName: node-1
  enableServiceLinks: false
  automountServiceAccountToken: false
  schedulerName: default-scheduler
  hostPID: false
  hostIPC: false
  hostUsers: true
  shareProcessNamespace: false
  setHostnameAsFQDN: false
  priority: 2000000000
  priorityClassName: system-cluster-critical
  preemptionPolicy: PreemptLowerPriority
  runtimeClassName: gvisor
  overhead: {cpu: 250m, memory: 120Mi, ephemeral-storage: 1Gi}
  activeDeadlineSeconds: 600
  os: {name: linux}
  nodeSelector: {kubernetes.io/os: linux}
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions: [{key: disk, operator: In, values: [ssd]}, {key: gpu, operator: Exists}]
          matchFields: [{key: metadata.name, operator: NotIn, values: [node-2]}]
      preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 5
        preference:
          matchExpressions: [{key: cores, operator: Gt, values: ["3"]}]
          matchFields: [{key: metadata.name, operator: In, values: [node-1]}]
  tolerations:
  - {key: gpu, operator: Equal, value: "yes", effect: NoSchedule}
  - {key: flaky, operator: Exists, effect: NoExecute, tolerationSeconds: 30}
  securityContext:
    sysctls: [{name: kernel.shm_rmid_forced, value: "1"}]
    appArmorProfile: {type: Localhost, localhostProfile: mine}
  volumes:
  - name: logs
    hostPath: {path: /var/log, type: Directory}
  - name: scratch
    emptyDir: {medium: Memory, sizeLimit: 64Mi}
  - name: plain
    emptyDir: {}
  - name: implied
  containers:
  - name: web
    image: registry.example/web:1.2
    command: [/web]
    args: ["-v", $(LEVEL)]
    workingDir: /srv
    imagePullPolicy: IfNotPresent
    terminationMessagePath: /dev/message
    terminationMessagePolicy: FallbackToLogsOnError
    stdin: true
    stdinOnce: true
    tty: true
    env:
    - {name: LEVEL, value: debug}
    - {name: EMPTY}
    ports:
    - {name: http, containerPort: 80, hostPort: 8080, hostIP: 127.0.0.1, protocol: TCP}
    - {name: dns, containerPort: 53, hostPort: 8080, protocol: UDP}
    resources:
      limits: {cpu: 500m, memory: 64Mi, example.com/gpu: 1}
      requests: {cpu: 250m, memory: 32Mi, ephemeral-storage: 1Gi}
    securityContext: {privileged: false, allowPrivilegeEscalation: true, readOnlyRootFilesystem: false, appArmorProfile: {type: RuntimeDefault}}
    volumeMounts:
    - {name: logs, mountPath: /logs, readOnly: true, mountPropagation: None, recursiveReadOnly: Disabled}
    - {name: scratch, mountPath: /tmp}
  - name: sidecar
    image: registry.example/log
    resources:
      limits: {cpu: 100m, memory: 16Mi}
`

const minimal = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: c, image: i}]}\n"

// fieldCase is a field of a document and the values it may have, as YAML.
type fieldCase struct {
	path string
	// valid values are accepted by a kubelet. Wardlet accepts them, too, unless differs has the
	// value. invalid values are refused by both, again unless differs has the value.
	valid, invalid []string
	// differs maps the values that the two treat differently to the lines of docs/differences.md
	// that explain it.
	differs map[string]string
	// with are other fields that the values require, as path and YAML.
	with [][2]string
}

func long(n int) string { return strings.Repeat("a", n) }

const (
	unsupported = "unsupported-field"
	local       = "local-object"
	systemClass = "system-priority-class"
	// strict is a kubelet that takes what Wardlet finds a fault with.
	reserved = "reserved-annotation"
)

var fieldCases = slices.Concat(metadataCases, specCases, identityCases, nameCases, placementCases, securityCases, containerCases, portCases, resourceCases, volumeCases, ofProbes, objectCases)

var metadataCases = []fieldCase{
	{path: "apiVersion", valid: []string{"v1"}, invalid: []string{"v2", "apps/v1", `""`, "1", "null", "[v1]", "V1"}},
	{path: "kind", valid: []string{"Pod"}, invalid: []string{"Deployment", `""`, "pod", "null", "7", "Service", "Binding"}},
	{
		path:    "metadata.name",
		valid:   []string{"a", "a.b", `"0"`, "a-", "x" + long(245)},
		invalid: []string{`""`, "null", "Web", "a_b", "-a", "a..b", "a b", "x" + long(246), "7", "true", "a/b", ".a", "a."},
	},
	{path: "metadata.generateName", invalid: []string{"a b"}, differs: map[string]string{"web-": unsupported}},
	{
		path:    "metadata.namespace",
		valid:   []string{"a", "null", `""`, "kube-system", long(63), `"0"`},
		invalid: []string{"a.b", "A", "a_b", long(64), "-a", "a-", "7"},
	},
	{
		path:    "metadata.uid",
		valid:   []string{"a", `"7"`, `""`, "null", long(63), "A-b"},
		invalid: []string{"7", "[a]"},
		differs: map[string]string{"../x": "uid-form", "a_b": "uid-form", "-a": "uid-form", long(64): "uid-form", `"a b"`: "uid-form"},
	},
	{
		path: "metadata.labels",
		valid: []string{
			"{}", "null", "{a: b}", "{a: null}", "{example.com/a: b}", "{a: " + long(63) + "}", "{" + long(63) + ": a}", "{a: A_b.c-d}", `{"0": "0"}`,
		},
		invalid: []string{
			"{a: b/c}", "{a/b/c: d}", "{a: " + long(64) + "}", "{" + long(64) + ": a}", "{a: -b}", `{"": a}`, "{a b: c}", "{a: 1}", "{a: true}", "[]",
			"{Example.com/a: b}", "{/a: b}", "{a/: b}", "{a: [b]}",
		},
	},
	{
		path: "metadata.annotations",
		valid: []string{
			"{}", "null", "{a: b}", "{a: null}", "{example.com/a: 'any text, also\nlines'}", "{" + long(63) + ": a}", "{A/b: c}",
			"{controller.kubernetes.io/pod-deletion-cost: '-7'}", "{a: " + long(256<<10-len("akubernetes.io/config.hash")-36) + "}", "{kubernetes.io/description: x}",
		},
		invalid: []string{
			"{a/b/c: d}", "{a b: c}", "{" + long(64) + ": a}", "{a: 1}", "{a: {b: c}}", "[a]", "{a: " + long(256<<10-len("akubernetes.io/config.hash")-35) + "}",
			"{controller.kubernetes.io/pod-deletion-cost: lots}", "{controller.kubernetes.io/pod-deletion-cost: '+1'}",
			"{controller.kubernetes.io/pod-deletion-cost: ''}", "{controller.kubernetes.io/pod-deletion-cost: '2147483648'}",
			"{controller.kubernetes.io/pod-deletion-cost: '007'}",
			"{scheduler.alpha.kubernetes.io/tolerations: x}", "{seccomp.security.alpha.kubernetes.io/pod: x}",
			"{container.seccomp.security.alpha.kubernetes.io/web: x}", "{container.apparmor.security.beta.kubernetes.io/web: x}",
			"{container.apparmor.security.beta.kubernetes.io/nobody: unconfined}",
		},
		differs: map[string]string{
			"{kubernetes.io/config.source: api}":                                       reserved,
			"{kubernetes.io/config.mirror: x}":                                         reserved,
			"{kubernetes.io/config.hash: x}":                                           reserved,
			"{kubernetes.io/config.seen: x}":                                           reserved,
			"{wardlet.dev/installation: x}":                                            reserved,
			"{wardlet.dev/identity: A}":                                                "identity-form",
			"{wardlet.dev/identity: ''}":                                               "identity-form",
			"{scheduler.alpha.kubernetes.io/tolerations: '[]'}":                        "field-annotation",
			"{seccomp.security.alpha.kubernetes.io/pod: runtime/default}":              "field-annotation",
			"{container.seccomp.security.alpha.kubernetes.io/web: unconfined}":         "field-annotation",
			"{container.apparmor.security.beta.kubernetes.io/web: runtime/default}":    "field-annotation",
			"{container.apparmor.security.beta.kubernetes.io/sidecar: localhost/mine}": "field-annotation",
		},
	},
	{path: "metadata.annotations[wardlet.dev/identity]", valid: []string{"web", "a"}},
	{
		path:    "metadata.creationTimestamp",
		valid:   []string{"null", `"2026-01-02T03:04:05Z"`, "2026-01-02T03:04:05Z"},
		invalid: []string{"yesterday", "7", "[]"},
	},
}

var specCases = []fieldCase{
	{path: "spec", invalid: []string{"null", "{}", "[]", "7"}},
	{path: "spec.restartPolicy", valid: []string{"Always", "OnFailure", "Never", `""`, "null"}, invalid: []string{"always", "Sometimes", "7"}},
	{
		path:    "spec.terminationGracePeriodSeconds",
		valid:   []string{"0", "1", "9223372036854775807", "null", "5.0", "1e2"},
		invalid: []string{"9223372036854775808", "1.5", `"5"`, "true"},
		differs: map[string]string{"-1": "negative-grace", "-9223372036854775808": "negative-grace"},
	},
	{
		path:    "spec.dnsPolicy",
		valid:   []string{"ClusterFirst", "ClusterFirstWithHostNet", "Default", `""`, "null"},
		invalid: []string{"None", "default", "7"},
	},
	{
		path: "spec.dnsPolicy", with: [][2]string{{"spec.dnsConfig", "{nameservers: [10.0.0.1]}"}},
		valid: []string{"None", "Default"},
	},
	{path: "spec.hostNetwork", valid: []string{"false", "null"}, invalid: []string{"true", `"true"`, "1", "yes and no"}},
	{
		path: "spec.hostNetwork", valid: []string{"true", "yes"},
		with: [][2]string{{"spec.containers[0].ports[0].hostPort", "80"}, {"spec.containers[0].ports[1].hostPort", "null"}},
	},
	{
		path: "spec.nodeName", valid: []string{"node-1", `""`, "null"}, invalid: []string{"7"},
		differs: map[string]string{"node-2": "node-name", "Node-1": "node-name"},
	},
	{path: "spec.enableServiceLinks", valid: []string{"true", "false", "null"}, invalid: []string{`"true"`}},
	{path: "spec.automountServiceAccountToken", valid: []string{"false", "null"}, invalid: []string{"0"}, differs: map[string]string{"true": unsupported}},
	{path: "spec.schedulerName", valid: []string{"default-scheduler", `""`}, invalid: []string{"7"}, differs: map[string]string{"mine": unsupported}},
	{path: "spec.hostPID", valid: []string{"true", "false", "null"}, invalid: []string{"7"}},
	{path: "spec.hostIPC", valid: []string{"false", "null"}, invalid: []string{"7", "true"}},
	{path: "spec.hostIPC", with: [][2]string{{"spec.securityContext.sysctls", "null"}}, valid: []string{"true"}},
	{path: "spec.hostUsers", valid: []string{"true", "null"}, invalid: []string{"7"}, differs: map[string]string{"false": unsupported}},
	{path: "spec.shareProcessNamespace", valid: []string{"true", "false", "null"}, invalid: []string{"7"}},
	{path: "spec.shareProcessNamespace", with: [][2]string{{"spec.hostPID", "true"}}, valid: []string{"false"}, invalid: []string{"true"}},
	{path: "spec.runtimeClassName", valid: []string{"mine", "a.b", "null", long(63)}, invalid: []string{"A", "a_b", "7", `""`}},
	{
		path: "spec.overhead", valid: []string{"{}", "null", "{cpu: 1m}", "{memory: null}", "{ephemeral-storage: 0}"}, invalid: []string{"{cpu: -1}", "{nonsense: 1}", "7"},
		differs: map[string]string{"{example.com/gpu: 1}": unsupported, "{hugepages-2Mi: 2Mi, cpu: 1}": unsupported},
	},
	{
		path: "spec.resources",
		valid: []string{
			"{}", "null", "{limits: {}}", "{limits: {cpu: 2}}", "{limits: {cpu: 2, memory: 1Gi}}", "{requests: {memory: 1Gi}}", "{limits: {hugepages-2Mi: 2Mi, cpu: 2}}",
			"{limits: {hugepages-2Mi: 2Mi}}", "{limits: {cpu: 2.0001}, requests: {cpu: '1.0001'}}",
		},
		invalid: []string{
			"{limits: {cpu: -1}}", "{limits: {cpu: 1m}}", "{limits: {cpu: 2}, requests: {cpu: 3}}", "{requests: {cpu: 1m}}", "{requests: {hugepages-2Mi: 2Mi, cpu: 2}}",
			"{limits: {hugepages-2Mi: 3Mi, cpu: 2}}", "{requests: {cpu: null}, limits: {cpu: 3}}", "{limits: {ephemeral-storage: 1Gi}}", "{limits: {example.com/gpu: 1}}", "{limits: {nonsense: 1}}", "7",
			"{claims: [{name: a}]}", "{claims: []}",
		},
	},
	{path: "spec.resources.limits.cpu", valid: []string{"1", "2500m", "1.5"}, invalid: []string{"-1", "lots", "0", "null"}},
	{path: "spec.resources.limits.memory", valid: []string{"1Gi", "1.5Gi"}, invalid: []string{"-1", "lots", "0", "1Ki"}},
	{path: "spec.resources.limits.hugepages-2Mi", valid: []string{"0", "2Mi", "1Gi", "null"}, invalid: []string{"-1", "lots", "1Mi"}},
	{path: "spec.resources.requests.cpu", valid: []string{"1", "2500m"}, invalid: []string{"-1", "lots", "0", "null", "1m"}},
	{path: "spec.resources.requests.memory", valid: []string{"1Gi", "1.5Gi"}, invalid: []string{"-1", "lots", "0", "1Ki"}},
	{path: "spec.resources.requests.hugepages-2Mi", invalid: []string{"2Mi", "-1", "lots"}},
	{path: "spec.resources.requests.hugepages-2Mi", with: [][2]string{{"spec.resources.limits", "{hugepages-2Mi: 2Mi}"}}, valid: []string{"2Mi", "2048Ki"}, invalid: []string{"4Mi", "0"}},
	{path: "spec.overhead.cpu", valid: []string{"0", "1", "250m", "null", "0.5", "1n"}, invalid: []string{"-1", "lots"}},
	{path: "spec.overhead.memory", valid: []string{"0", "1Gi", "null", "1n"}, invalid: []string{"-1", "lots"}},
	{path: "spec.overhead.ephemeral-storage", valid: []string{"0", "1Gi", "null"}, invalid: []string{"-1", "lots"}},
	{path: "spec.setHostnameAsFQDN", valid: []string{"true", "false", "null"}, invalid: []string{"7"}},
	{
		path: "spec.priority", with: [][2]string{{"spec.priorityClassName", "null"}},
		valid: []string{"0", "null", "1", "-2147483648", "2000000000", "2147483647"}, invalid: []string{`"0"`, "1.5", "2147483648"},
	},
	{path: "spec.priority", valid: []string{"2000000000", "null"}, differs: map[string]string{"1": systemClass, "2000001000": systemClass}},
	{
		path: "spec.priorityClassName", valid: []string{"system-cluster-critical", `""`, "null"}, invalid: []string{"7", "a_b", "A"},
		differs: map[string]string{"system-node-critical": systemClass, "mine": unsupported},
	},
	{
		path: "spec.activeDeadlineSeconds", valid: []string{"1", "null", "2147483647", "6e1"},
		invalid: []string{"0", "-1", "2147483648", "1.5", `"60"`, "9223372036854775808"},
	},
	{path: "spec.os", valid: []string{"{name: linux}", "null"}, invalid: []string{"{}", "{name: ''}", "{name: null}", "{name: plan9}", "{name: Linux}", "linux", "{name: windows}", "[]"}},
	{
		path: "spec.os.name", valid: []string{"windows", "linux"}, invalid: []string{`""`, "null", "Windows", "7"},
		with: [][2]string{{"spec.hostUsers", "null"}, {"spec.shareProcessNamespace", "null"}, {"spec.securityContext", "null"}, {"spec.containers[0].securityContext", "null"}},
	},
	{path: "spec.preemptionPolicy", valid: []string{"PreemptLowerPriority", "null"}, invalid: []string{`""`, "Sometimes"}, differs: map[string]string{"Never": unsupported}},
	{path: "spec.securityContext", valid: []string{"{}", "null", "{runAsUser: 0}", "{fsGroup: 5}"}, invalid: []string{"[]"}},
	{path: "spec.containers", invalid: []string{"[]", "null", "{}", "[{}]", "[null]", "[7]", "[{name: c}]", "[{image: i}]"}},
	{path: "spec.volumes", valid: []string{"[{name: logs}, {name: scratch}]"}, invalid: []string{"[]", "null", "[null]", "{}", "[{}]"}},
	{path: "status", valid: []string{"{}", "null"}, invalid: []string{"[]", "7"}, differs: map[string]string{"{phase: Running}": unsupported, "{phase: Failed}": unsupported}},
}
