package manifest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/pod"
)

const requiredTerm = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]"

// manyLabels returns labels whose total size is pod.MaxLabels plus more bytes.
func manyLabels(more int) string {
	const each = 64
	var b strings.Builder
	for i := range pod.MaxLabels / each {
		value := strings.Repeat("v", each-pod.EntryCost-len("k00000")+more)
		fmt.Fprintf(&b, "k%05d: %s, ", i, value)
		more = 0
	}
	return "{" + b.String() + "}"
}

// affinity returns a manifest with one term of a required node affinity.
func affinity(term string) string {
	return manifest("  affinity:", "    nodeAffinity:", "      requiredDuringSchedulingIgnoredDuringExecution:", "        nodeSelectorTerms:", "        - "+term)
}

func TestValidation(t *testing.T) {
	t.Parallel()
	meta := func(line string) string {
		return strings.Replace(manifest(), "  name: web\n", "  name: web\n"+line+"\n", 1)
	}
	const label = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-'"
	for _, tc := range []struct {
		rule, text string
		// want is the beginning of the error, with its line.
		want string
	}{
		{"a pod has a name", strings.Replace(manifest(), "  name: web\n", "  labels: {}\n", 1), "3: metadata.name: Required value"},
		{"the final name is checked", strings.Replace(manifest(), "name: web", "name: "+strings.Repeat("a", 250), 1), `4: metadata.name: Invalid value: "aaaa`},
		{"a namespace is a DNS label", meta("  namespace: a.b"), `5: metadata.namespace: Invalid value: "a.b": must not contain dots`},
		{"a label's value", meta("  labels: {a: b/c}"), `5: metadata.labels: Invalid value: "b/c": `},
		{"a label's key", meta("  labels: {a/b/c: d}"), `5: metadata.labels: Invalid value: "a/b/c": `},
		{"labels together", meta("  labels: " + manyLabels(0)), ""},
		{"labels that are too long together", meta("  labels: " + manyLabels(1)), "5: metadata.labels: Too long: may not be more than 65536 bytes together; put what nothing selects by into annotations"},
		{"an annotation's key", meta("  annotations: {a/b/c: d}"), `5: metadata.annotations: Invalid value: "a/b/c": `},
		{"annotations together", meta("  annotations: {a: " + strings.Repeat("x", 256<<10) + "}"), "5: metadata.annotations: Too long: may not be more than 262144 bytes"},
		{"config.source is the node's", meta("  annotations:\n    kubernetes.io/config.source: api"), "6: metadata.annotations[kubernetes.io/config.source]: Forbidden: only a node agent writes this annotation"},
		{"config.mirror would be a lie", meta("  annotations:\n    kubernetes.io/config.mirror: x"), "6: metadata.annotations[kubernetes.io/config.mirror]: Forbidden: "},
		{"the agent's own annotations", meta("  annotations:\n    wardlet.dev/installation: x"), "6: metadata.annotations[wardlet.dev/installation]: Forbidden: "},
		{"an identity", meta("  annotations: {wardlet.dev/identity: web}"), ""},
		{"an identity is a DNS label", meta("  annotations: {wardlet.dev/identity: a/b}"), `5: metadata.annotations[wardlet.dev/identity]: Invalid value: "a/b": ` + label},
		{"an identity says something", meta("  annotations: {wardlet.dev/identity: \"\"}"), `5: metadata.annotations[wardlet.dev/identity]: Invalid value: "": ` + label},
		{"an AppArmor profile", meta("  annotations: {container.apparmor.security.beta.kubernetes.io/app: unconfined}"), "5: metadata.annotations[container.apparmor.security.beta.kubernetes.io/app]: Forbidden: say it in securityContext.appArmorProfile"},
		{"a seccomp profile of a container", meta("  annotations: {container.seccomp.security.alpha.kubernetes.io/app: unconfined}"), "5: metadata.annotations[container.seccomp.security.alpha.kubernetes.io/app]: Forbidden: "},
		{"a seccomp profile of a pod", meta("  annotations: {seccomp.security.alpha.kubernetes.io/pod: unconfined}"), "5: metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: Forbidden: "},
		{"tolerations", meta("  annotations: {scheduler.alpha.kubernetes.io/tolerations: '[]'}"), "5: metadata.annotations[scheduler.alpha.kubernetes.io/tolerations]: Forbidden: say it in spec.tolerations"},
		{"a deletion cost", meta("  annotations: {controller.kubernetes.io/pod-deletion-cost: '-7'}"), ""},
		{"a deletion cost is a number", meta("  annotations: {controller.kubernetes.io/pod-deletion-cost: ''}"), `5: metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: ""`},
		{"a deletion cost has no zeros in front", meta("  annotations: {controller.kubernetes.io/pod-deletion-cost: '07'}"), `5: metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "07"`},
		{"annotations are counted without the source", meta("  annotations: {a: " + strings.Repeat("x", 256<<10-1-len(pod.AnnotationHash)-32) + "}"), ""},
		{"a UID is no path", meta("  uid: ../x"), `5: metadata.uid: Invalid value: "../x": must be at most 63 letters, digits and dashes`},
		{"the node is this one", manifest("  nodeName: Node-1"), ""},
		{"the node is no other", manifest("  nodeName: b"), `9: spec.nodeName: Invalid value: "b": this node is "Node-1"`},
		{"restartPolicy", manifest("  restartPolicy: Sometimes"), `9: spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "Never", "OnFailure"`},
		{"grace", manifest("  terminationGracePeriodSeconds: -1"), `9: spec.terminationGracePeriodSeconds: Invalid value: -1: must be greater than or equal to 0`},
		{"no grace", manifest("  terminationGracePeriodSeconds: 0"), ""},

		{"a container at least", strings.Split(manifest(), "  containers")[0] + "  containers: []\n", "6: spec.containers: Required value"},
		{"a container has a name", manifest("  - image: a"), "9: spec.containers[1].name: Required value"},
		{"a container's name is a DNS label", manifest("  - {name: a_b, image: a}"), `9: spec.containers[1].name: Invalid value: "a_b": ` + label},
		{"a container's name is its own", manifest("  - name: app", "    image: a"), `9: spec.containers[1].name: Duplicate value: "app"`},
		{"an image has no space around it", manifest("  - name: b", "    image: \" a\""), `10: spec.containers[1].image: Invalid value: " a": must not have leading or trailing whitespace`},
		{"imagePullPolicy", manifest("    imagePullPolicy: Often"), `9: spec.containers[0].imagePullPolicy: Unsupported value: "Often"`},
		{"terminationMessagePolicy", manifest("    terminationMessagePolicy: Log"), `9: spec.containers[0].terminationMessagePolicy: Unsupported value: "Log"`},
		{"a variable has a name", manifest("    env:", "    - value: a"), "10: spec.containers[0].env[0].name: Required value"},
		{"a variable's name has no =", manifest("    env: [{name: a=b}]"), `9: spec.containers[0].env[0].name: Invalid value: "a=b": `},
		{"a variable may be set twice", manifest("    env: [{name: a}, {name: a, value: b}]"), ""},

		{"a port has a number", manifest("    ports: [{name: a}]"), "9: spec.containers[0].ports[0].containerPort: Required value"},
		{"a port's range", manifest("    ports: [{containerPort: 65536}]"), "9: spec.containers[0].ports[0].containerPort: Invalid value: 65536: must be between 1 and 65535, inclusive"},
		{"a host port's range", manifest("    ports: [{containerPort: 1, hostPort: -1}]"), "9: spec.containers[0].ports[0].hostPort: Invalid value: -1: must be between 1 and 65535, inclusive"},
		{"a port's name", manifest("    ports: [{containerPort: 1, name: A}]"), `9: spec.containers[0].ports[0].name: Invalid value: "A": `},
		{"a port's name is its own", manifest("    ports:", "    - {containerPort: 1, name: a}", "    - {containerPort: 2, name: a}"), `11: spec.containers[0].ports[1].name: Duplicate value: "a"`},
		{"a protocol", manifest("    ports: [{containerPort: 1, protocol: tcp}]"), `9: spec.containers[0].ports[0].protocol: Unsupported value: "tcp": supported values: "SCTP", "TCP", "UDP"`},
		{"a host IP", manifest("    ports: [{containerPort: 1, hostIP: here}]"), `9: spec.containers[0].ports[0].hostIP: Invalid value: "here": must be an IP address`},
		{"a host IP has no zone", manifest("    ports: [{containerPort: 1, hostIP: 'fe80::1%eth0'}]"), `9: spec.containers[0].ports[0].hostIP: Invalid value: "fe80::1%eth0": must be an IP address`},
		{"a host port is taken once in a pod", manifest("    ports: [{containerPort: 1, hostPort: 5}]", "  - name: b", "    image: i", "    ports: [{containerPort: 2, hostPort: 5}]"), `12: spec.containers[1].ports[0].hostPort: Duplicate value: "TCP//5"`},
		{"one host port for two protocols", manifest("    ports: [{containerPort: 1, hostPort: 5}, {containerPort: 1, hostPort: 5, protocol: UDP}]"), ""},
		{"with hostNetwork ports are the host's", manifest("    ports: [{containerPort: 1, hostPort: 5}]", "  hostNetwork: true"), "9: spec.containers[0].ports[0].hostPort: Invalid value: 5: must be the containerPort, or absent, with hostNetwork"},

		{"a limit is not negative", manifest("    resources: {limits: {cpu: -1}}"), `9: spec.containers[0].resources.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0`},
		{"a request is not negative", manifest("    resources: {requests: {cpu: -1}}"), `9: spec.containers[0].resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0`},
		{"a request is within the limit", manifest("    resources:", "      limits: {memory: 1Mi}", "      requests: {memory: 2Mi}"), `11: spec.containers[0].resources.requests[memory]: Invalid value: "2Mi": must be less than or equal to memory limit of 1Mi`},

		{"a request of the disk is not negative", manifest("    resources: {requests: {ephemeral-storage: -1}}"), `9: spec.containers[0].resources.requests[ephemeral-storage]: Invalid value: "-1": must be greater than or equal to 0`},
		{"an extended resource is counted", manifest("    resources: {limits: {example.com/gpu: 500m}}"), `9: spec.containers[0].resources.limits[example.com/gpu]: Invalid value: "500m": must be an integer`},
		{"an extended resource has a name", manifest("    resources: {limits: {example.com/: 1}}"), `9: spec.containers[0].resources.limits[example.com/]: Invalid value: "example.com/": `},
		{"an extended resource has a limit", manifest("    resources: {requests: {example.com/gpu: 1}}"), `9: spec.containers[0].resources.limits[example.com/gpu]: Required value: example.com/gpu needs a limit`},
		{"an extended resource is not shared", manifest("    resources:", "      limits: {example.com/gpu: 2}", "      requests: {example.com/gpu: 1}"), `11: spec.containers[0].resources.requests[example.com/gpu]: Invalid value: "1": must be equal to example.com/gpu limit of 2`},
		{"huge pages are whole", manifest("    resources: {limits: {hugepages-2Mi: 3Mi, cpu: 1}}"), `9: spec.containers[0].resources.limits[hugepages-2Mi]: Invalid value: "3Mi": is not positive integer multiple of hugepages-2Mi`},
		{"huge pages have a size", manifest("    resources: {limits: {hugepages-big: 2Mi, cpu: 1}}"), `9: spec.containers[0].resources.limits[hugepages-big]: Invalid value: "2Mi": is not positive integer multiple`},
		{"huge pages have a size that can be counted", manifest("    resources: {limits: {hugepages-1e999999999: 2Mi, cpu: 1}}"), `9: spec.containers[0].resources.limits[hugepages-1e999999999]: Invalid value: "2Mi": is not positive integer multiple`},
		{"huge pages have a limit", manifest("    resources: {requests: {hugepages-2Mi: 2Mi, cpu: 1}}"), `9: spec.containers[0].resources.limits[hugepages-2Mi]: Required value`},
		{"huge pages are not shared", manifest("    resources: {limits: {hugepages-2Mi: 4Mi, cpu: 1}, requests: {hugepages-2Mi: 2Mi}}"), `9: spec.containers[0].resources.requests[hugepages-2Mi]: Invalid value: "2Mi": must be equal to hugepages-2Mi limit of 4Mi`},
		{"huge pages are beside other memory", manifest("    resources: {limits: {hugepages-2Mi: 2Mi}}"), `9: spec.containers[0].resources: Forbidden: huge pages require cpu or memory`},

		{"the pod requests at least what its containers request", manifest("    resources: {requests: {cpu: 2}}", "  resources: {requests: {cpu: 1}}"), `10: spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container requests of 2`},
		{"a container's limit fits the pod's", manifest("    resources: {limits: {memory: 2Gi}}", "  resources: {limits: {memory: 1Gi}, requests: {memory: 0}}"), `9: spec.containers[0].resources.limits[memory]: Invalid value: "2Gi": must be less than or equal to pod limits of 1Gi`},
		{"huge pages of containers fit the pod's", manifest("    resources: {limits: {hugepages-2Mi: 4Mi, cpu: 1}}", "  resources: {limits: {hugepages-2Mi: 2Mi, cpu: 1}}"), `9: spec.containers[0].resources.limits[hugepages-2Mi]: Invalid value: "4Mi": must be less than or equal to pod limits of 2Mi; line 10: spec.resources.limits[hugepages-2Mi]: Invalid value: "2Mi": must be greater than or equal to aggregate container limits of 4Mi`},
		{"a pod of Windows has none", manifest("  resources: {limits: {cpu: 1}}", "  os: {name: windows}"), `9: spec.resources: Forbidden: cannot be set for a windows pod`},

		{"an overhead is not negative", manifest("  overhead: {memory: -1}"), `9: spec.overhead[memory]: Invalid value: "-1": must be greater than or equal to 0`},
		{"a runtime class has a name", manifest("  runtimeClassName: ''"), `9: spec.runtimeClassName: Invalid value: "": a lowercase RFC 1123 subdomain`},
		{"a runtime class is a subdomain", manifest("  runtimeClassName: gVisor"), `9: spec.runtimeClassName: Invalid value: "gVisor": a lowercase RFC 1123 subdomain`},

		{"a deadline", manifest("  activeDeadlineSeconds: 1"), ""},
		{"a deadline is not at once", manifest("  activeDeadlineSeconds: 0"), "9: spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive"},
		{"a deadline is not beyond all bounds", manifest("  activeDeadlineSeconds: 2147483648"), "9: spec.activeDeadlineSeconds: Invalid value: 2147483648: "},
		{"a class has its priority", manifest("  priorityClassName: system-node-critical", "  priority: 2000001000"), ""},
		{"a class has no other priority", manifest("  priorityClassName: system-node-critical", "  priority: 5"), "10: spec.priority: Invalid value: 5: must be that of the class system-node-critical, 2000001000, or absent"},
		{"a priority may be below all", manifest("  priority: -5"), ""},
		{"a system has a name", manifest("  os: {}"), "9: spec.os.name: Required value"},
		{"a system is one of two", manifest("  os: {name: plan9}"), `9: spec.os.name: Unsupported value: "plan9": supported values: "linux", "windows"`},
		{"a pod for another system is for its node to reject", manifest("  os: {name: windows}"), ""},
		{"a pod for another system says nothing of this one", manifest("  os: {name: windows}", "  securityContext: {sysctls: [{name: a}]}"), "10: spec.securityContext.sysctls: Forbidden: cannot be set for a windows pod"},
		{"nor of its users", manifest("  os: {name: windows}", "  hostUsers: true"), "10: spec.hostUsers: Forbidden: cannot be set for a windows pod"},
		{"nor do its containers", manifest("    securityContext: {allowPrivilegeEscalation: true}", "  os: {name: windows}"), "9: spec.containers[0].securityContext.allowPrivilegeEscalation: Forbidden: cannot be set for a windows pod"},

		{"a node's label", manifest("  nodeSelector: {a: b/c}"), `9: spec.nodeSelector: Invalid value: "b/c": `},
		{"a required affinity has an alternative", manifest("  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}"), "9: spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value"},
		{"what is in a set needs the set", affinity("matchExpressions: [{key: a, operator: In}]"), "13: " + requiredTerm + ".matchExpressions[0].values: Required value"},
		{"a key that is missing has two faults", affinity("matchExpressions: [{operator: Exists}]"), "13: " + requiredTerm + `.matchExpressions[0].key: Invalid value: "": name part must be non-empty; line 13: ` + requiredTerm + `.matchExpressions[0].key: Invalid value: "": name part must consist of`},
		{"what exists has no values", affinity("matchExpressions: [{key: a, operator: Exists, values: [b]}]"), "13: " + requiredTerm + ".matchExpressions[0].values: Forbidden"},
		{"what is greater is so than one", affinity("matchExpressions: [{key: a, operator: Gt, values: ['1', '2']}]"), "13: " + requiredTerm + ".matchExpressions[0].values: Required value"},
		{"an operator is one of some", affinity("matchExpressions: [{key: a, operator: Like}]"), `13: ` + requiredTerm + `.matchExpressions[0].operator: Invalid value: "Like": not a valid selector operator`},
		{"a key is a label", affinity("matchExpressions: [{key: a b, operator: Exists}]"), `13: ` + requiredTerm + `.matchExpressions[0].key: Invalid value: "a b"`},
		{"a value is a label's", affinity("matchExpressions: [{key: a, operator: In, values: [b/c]}]"), `13: ` + requiredTerm + `.matchExpressions[0].values[0]: Invalid value: "b/c"`},
		{"a field of nodes is the name", affinity("matchFields: [{key: spec.unschedulable, operator: In, values: [a]}]"), `13: ` + requiredTerm + `.matchFields[0].key: Invalid value: "spec.unschedulable": not a valid field selector key`},
		{"a node has one name", affinity("matchFields: [{key: metadata.name, operator: In, values: [a, b]}]"), "13: " + requiredTerm + ".matchFields[0].values: Required value"},
		{"a node's name is or is not", affinity("matchFields: [{key: metadata.name, operator: Exists}]"), `13: ` + requiredTerm + `.matchFields[0].operator: Invalid value: "Exists"`},
		{"a node's name is one", affinity("matchFields: [{key: metadata.name, operator: NotIn, values: [A]}]"), `13: ` + requiredTerm + `.matchFields[0].values[0]: Invalid value: "A"`},
		{"a preference has a weight", manifest("  affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{preference: {}, weight: 101}]}}"), "9: spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 101: must be in the range 1-100"},
		{"a preferred value may be any", manifest("  affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: a, operator: In, values: [b/c]}]}}]}}"), ""},
		{"a toleration of all", manifest("  tolerations: [{operator: Exists}]"), ""},
		{"a toleration without a key is of all", manifest("  tolerations: [{value: a}]"), `9: spec.tolerations[0].operator: Invalid value: "": must be Exists when`},
		{"a toleration's key", manifest("  tolerations: [{key: a b, operator: Exists}]"), `9: spec.tolerations[0].key: Invalid value: "a b"`},
		{"a toleration's operator", manifest("  tolerations: [{key: a, operator: Lt, value: '1'}]"), `9: spec.tolerations[0].operator: Unsupported value: "Lt": supported values: "Equal", "Exists"`},
		{"a toleration's value", manifest("  tolerations: [{key: a, value: b/c}]"), `9: spec.tolerations[0].value: Invalid value: "b/c"`},
		{"what exists has no value", manifest("  tolerations: [{key: a, operator: Exists, value: b}]"), `9: spec.tolerations[0].value: Invalid value: "b": must be empty`},
		{"a toleration's effect", manifest("  tolerations: [{operator: Exists, effect: Never}]"), `9: spec.tolerations[0].effect: Unsupported value: "Never"`},
		{"a toleration that ends is of what ends", manifest("  tolerations: [{operator: Exists, effect: NoSchedule, tolerationSeconds: 5}]"), `9: spec.tolerations[0].effect: Invalid value: "NoSchedule": must be NoExecute when`},

		{"a sysctl", manifest("  securityContext: {sysctls: [{name: net.ipv4.tcp_syncookies, value: '1'}, {name: kernel/msgmax}]}"), ""},
		{"a sysctl has a name", manifest("  securityContext: {sysctls: [{value: '1'}]}"), "9: spec.securityContext.sysctls[0].name: Required value"},
		{"a sysctl's name", manifest("  securityContext: {sysctls: [{name: a..b}]}"), `9: spec.securityContext.sysctls[0].name: Invalid value: "a..b": must have at most 253 characters`},
		{"a sysctl is set once", manifest("  securityContext: {sysctls: [{name: a}, {name: a}]}"), `9: spec.securityContext.sysctls[1].name: Duplicate value: "a"`},
		{"a sysctl is none of the node's", manifest("  hostNetwork: true", "  securityContext: {sysctls: [{name: net.core.somaxconn}]}"), `10: spec.securityContext.sysctls[0].name: Invalid value: "net.core.somaxconn": may not be specified when 'hostNetwork' is true`},
		{"an AppArmor profile has a type", manifest("    securityContext: {appArmorProfile: {}}"), "9: spec.containers[0].securityContext.appArmorProfile.type: Required value"},
		{"an AppArmor profile's type", manifest("  securityContext: {appArmorProfile: {type: Mine}}"), `9: spec.securityContext.appArmorProfile.type: Unsupported value: "Mine": supported values: "Localhost", "RuntimeDefault", "Unconfined"`},
		{"a loaded profile has a name", manifest("  securityContext: {appArmorProfile: {type: Localhost}}"), "9: spec.securityContext.appArmorProfile.localhostProfile: Required value"},
		{"a loaded profile's name is exact", manifest("  securityContext: {appArmorProfile: {type: Localhost, localhostProfile: ' a'}}"), `9: spec.securityContext.appArmorProfile.localhostProfile: Invalid value: " a": must not be padded`},
		{"the name of a loaded profile is bounded", manifest("  securityContext: {appArmorProfile: {type: Localhost, localhostProfile: " + strings.Repeat("a", 4096) + "}}"), "9: spec.securityContext.appArmorProfile.localhostProfile: Too long"},
		{"only a loaded profile has a name", manifest("    securityContext: {appArmorProfile: {type: Unconfined, localhostProfile: a}}"), `9: spec.containers[0].securityContext.appArmorProfile.localhostProfile: Invalid value: "a": can only be set`},

		{"the path of a termination message", manifest("    terminationMessagePath: /" + strings.Repeat("a", 4095)), ""},
		{"the path of a termination message is one of the kernel's", manifest("    terminationMessagePath: /" + strings.Repeat("a", 4096)), "9: spec.containers[0].terminationMessagePath: Too long: may not be more than 4096 bytes"},

		{"a volume has a name", manifest("  volumes: [{emptyDir: {}}]"), "9: spec.volumes[0].name: Required value"},
		{"a volume's name is its own", manifest("  volumes: [{name: a}, {name: a}]"), `9: spec.volumes[1].name: Duplicate value: "a"`},
		{"a volume is of one kind", manifest("  volumes: [{name: a, emptyDir: {}, hostPath: {path: /}}]"), "9: spec.volumes[0].emptyDir: Forbidden: may not specify more than 1 volume type"},
		{"a hostPath has a path", manifest("  volumes: [{name: a, hostPath: {}}]"), "9: spec.volumes[0].hostPath.path: Required value"},
		{"a hostPath is absolute", manifest("  volumes: [{name: a, hostPath: {path: a}}]"), `9: spec.volumes[0].hostPath.path: Invalid value: "a": must be an absolute path`},
		{"a hostPath does not go back", manifest("  volumes: [{name: a, hostPath: {path: /a/../b}}]"), `9: spec.volumes[0].hostPath.path: Invalid value: "/a/../b": must not contain '..'`},
		{"dots that do not go back", manifest("  volumes: [{name: a, hostPath: {path: /a..b}}]"), ""},
		{"a hostPath's type", manifest("  volumes: [{name: a, hostPath: {path: /a, type: Dir}}]"), `9: spec.volumes[0].hostPath.type: Unsupported value: "Dir"`},
		{"a size on the disk", manifest("  volumes: [{name: a, emptyDir: {sizeLimit: 1Mi}}]"), ""},
		{"a size in memory", manifest("  volumes: [{name: a, emptyDir: {medium: Memory, sizeLimit: 1Mi}}]"), ""},
		{"a size is not negative", manifest("  volumes: [{name: a, emptyDir: {medium: Memory, sizeLimit: -1}}]"), `9: spec.volumes[0].emptyDir.sizeLimit: Invalid value: "-1"`},
		{"a mount is of a volume", manifest("    volumeMounts: [{name: a, mountPath: /a}]"), `9: spec.containers[0].volumeMounts[0].name: Not found: "a"`},
		{"a mount names its volume", manifest("    volumeMounts: [{mountPath: /a}]"), "9: spec.containers[0].volumeMounts[0].name: Required value"},
		{"a mount has a path", manifest("    volumeMounts: [{name: a}]", "  volumes: [{name: a}]"), "9: spec.containers[0].volumeMounts[0].mountPath: Required value"},
		{"a mount's path is its own", manifest("    volumeMounts: [{name: a, mountPath: /a}, {name: a, mountPath: /a}]", "  volumes: [{name: a}]"), `9: spec.containers[0].volumeMounts[1].mountPath: Invalid value: "/a": must be unique`},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			t.Parallel()
			got := ""
			if err := Decode([]byte(tc.text), testFrom)[0].Err; err != nil {
				got = strings.TrimPrefix(err.Error(), "/m/web.yaml:")
			}
			if (tc.want == "") != (got == "") || !strings.HasPrefix(got, tc.want) {
				t.Errorf("got  %.300q\nwant %q", got, tc.want)
			}
		})
	}
}
