package manifest

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
)

// rowOf returns the row of a field in docs/supported-fields.md.
func rowOf(s support) string {
	values := s.values
	if s.only != nil {
		words := "`" + strings.Join(s.only, "`, `") + "`"
		values = strings.TrimSuffix("only "+words+": "+values, ": ")
	}
	return fmt.Sprintf("| `%s` | %s |", s.path, values)
}

func TestTheDocumentedFieldsAreTheHonouredOnes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/supported-fields.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := regexp.MustCompile("(?m)^\\| `.*$").FindAllString(string(text), -1)
	var honoured []string
	for _, s := range slices.Concat(supported, supportedOfAPI) {
		honoured = append(honoured, rowOf(s))
	}
	if diff := cmp.Diff(honoured, documented); diff != "" {
		t.Errorf("docs/supported-fields.md differs (-code +document):\n%s", diff)
	}
}

func TestEverySupportedFieldIsOneOfThePodAPI(t *testing.T) {
	t.Parallel()
	for _, s := range slices.Concat(supported, supportedOfAPI) {
		typ := reflect.TypeFor[v1.Pod]()
		for step := range strings.SplitSeq(strings.ReplaceAll(s.path, "[]", ".[]"), ".") {
			if typ.Kind() == reflect.Pointer {
				typ = typ.Elem()
			}
			switch typ.Kind() {
			case reflect.Struct:
				member, ok := membersOf(typ)[step]
				if !ok {
					t.Fatalf("%s: %s has no %s", s.path, typ, step)
				}
				typ = member
			case reflect.Slice, reflect.Map:
				typ = typ.Elem()
			default:
				t.Fatalf("%s: nothing below %s", s.path, typ)
			}
		}
	}
}

func TestUnsupportedFields(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		rule, field string
		// want is the expected error, empty if the field is accepted.
		want string
	}{
		{"an unsupported field is refused", "  topologySpreadConstraints: [{maxSkew: 1}]", "9: spec.topologySpreadConstraints: not supported by this version yet"},
		{"an unsupported field is refused when it is an empty list", "  topologySpreadConstraints: []", "9: spec.topologySpreadConstraints: not supported by this version yet"},
		{"and when it is an empty object", "  affinity: {podAffinity: {}}", "9: spec.affinity.podAffinity: not supported by this version yet"},
		{"the pod's security context may be empty, as kubectl writes it", "  securityContext: {}", ""},
		{"a part of it that is not honoured", "  securityContext: {windowsOptions: {}}", "9: spec.securityContext.windowsOptions: not supported by this version yet"},
		{"an empty probe", "    livenessProbe: {}", "9: spec.containers[0].livenessProbe: Required value: must specify a handler type"},
		{"an empty map", "  resources: {claims: []}", "9: spec.resources.claims: not supported by this version yet"},
		{"resources of the whole pod", "  resources: {limits: {cpu: 1, memory: 1Gi, hugepages-2Mi: 4Mi}, requests: {cpu: 100m}}", ""},
		{"resources of the whole pod that only containers have", "  resources: {limits: {example.com/gpu: 1}}", "9: spec.resources.limits[example.com/gpu]: not supported by this version yet"},
		{"what a sandbox takes", "  overhead: {cpu: 250m, memory: 120Mi, ephemeral-storage: 1Gi}", ""},
		{"what a sandbox takes of something else", "  overhead: {example.com/gpu: 1}", "9: spec.overhead[example.com/gpu]: not supported by this version yet"},
		{"a runtime class", "  runtimeClassName: gvisor", ""},
		{"an empty field within a supported one", "    securityContext: {windowsOptions: {}}", "9: spec.containers[0].securityContext.windowsOptions: not supported by this version yet"},
		{"an unsupported field with an empty one below is refused once", "  topologySpreadConstraints: [{labelSelector: {}}]", "9: spec.topologySpreadConstraints: not supported by this version yet"},
		{"supported objects and lists may be empty", "    resources: {limits: {}}\n    securityContext: {}\n    env: []\n  volumes: []", ""},
		{"null", "  topologySpreadConstraints: null", ""},
		{"an empty string where the API tells it from none", "    restartPolicy: \"\"", `9: spec.containers[0].restartPolicy: Unsupported value: "": supported values: "Always", "Never", "OnFailure"`},
		{"an init container", "  initContainers: [{name: i, image: i, ports: [{containerPort: 80}]}, {name: s, image: s, restartPolicy: Always}]", ""},
		{"an init container with a policy of its own", "  initContainers: [{name: i, image: i, restartPolicy: Never}]", ""},
		{"rules of restart", "    restartPolicy: Never\n    restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [42]}}]", ""},
		{"rules of restart without a policy", "    restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [42]}}]", "9: spec.containers[0].restartPolicyRules: Required value: must specify restartPolicy when restart rules are used"},
		{"a rule that restarts all containers", "    restartPolicy: Never\n    restartPolicyRules: [{action: RestartAllContainers, exitCodes: {operator: In, values: [42]}}]", ""},
		{"a rule of that kind on a sidecar", "  initContainers: [{name: s, image: s, restartPolicy: Always, restartPolicyRules: [{action: RestartAllContainers, exitCodes: {operator: NotIn, values: [0]}}]}]", ""},
		{"a rule that nobody knows", "    restartPolicy: Never\n    restartPolicyRules: [{action: Stop, exitCodes: {operator: In, values: [42]}}]", `10: spec.containers[0].restartPolicyRules[0].action: Unsupported value: "Stop": supported values: "Restart", "RestartAllContainers"`},
		{"a field of an init container that is not honoured", "  initContainers: [{name: i, image: i, resizePolicy: []}]", "9: spec.initContainers[0].resizePolicy: not supported by this version yet"},
		{"an init container with the name of another container", "  initContainers: [{name: app, image: i}]", `9: spec.initContainers[0].name: Duplicate value: "app"`},
		{"an ephemeral container, which only the API server adds", "  ephemeralContainers: [{name: i, image: i}]", "9: spec.ephemeralContainers: not supported by this version yet"},
		{"an empty string where only one value is", "  preemptionPolicy: \"\"", `9: spec.preemptionPolicy: "" is not supported by this version yet; supported: PreemptLowerPriority`},
		{"a null volume of an unsupported kind", "  volumes: [{name: v, hostPath: {path: /v}, secret: null}]", ""},
		{"empty string", "  serviceAccountName: \"\"", ""},
		{"false is a value where it is not the default", "  automountServiceAccountToken: true", "9: spec.automountServiceAccountToken: true is not supported by this version yet; supported: false"},
		{"false that means off", "  hostPID: false", ""},
		{"false that does not mean off", "  hostUsers: false", "9: spec.hostUsers: false is not supported by this version yet; supported: true"},
		{"how resources change in place", "    resizePolicy: [{resourceName: cpu, restartPolicy: NotRequired}]", "9: spec.containers[0].resizePolicy: not supported by this version yet"},
		{"a privilege that a node without user namespaces does not give", "    securityContext: {procMount: Unmasked}", "9: spec.containers[0].securityContext.procMount: Unmasked is not supported by this version yet; supported: Default"},
		{"privileges that are the default", "    securityContext: {privileged: false, allowPrivilegeEscalation: true}", ""},
		{"a DNS policy that is none", "  dnsPolicy: Mine", `9: spec.dnsPolicy: Unsupported value: "Mine": supported values: "ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"`},
		{"an unsupported resource that is null", "    resources: {limits: {kubernetes.io/gpu: null}}", "9: spec.containers[0].resources.limits[kubernetes.io/gpu]: not supported by this version yet"},
		{"a limit of the disk", "    resources: {limits: {ephemeral-storage: 1Gi}}", ""},
		{"a supported resource that is null is 0", "    resources: {limits: {cpu: null}}", ""},
		{"a request of the disk may be made, for it is counted", "    resources: {requests: {ephemeral-storage: 1Gi}}", ""},
		{"huge pages", "    resources: {limits: {hugepages-2Mi: 2Mi, memory: 1Gi}}", ""},
		{"an extended resource", "    resources: {limits: {example.com/gpu: 1}}", ""},
		{"a resource of the API's own that is none", "    resources: {limits: {kubernetes.io/gpu: 1}}", "9: spec.containers[0].resources.limits[kubernetes.io/gpu]: not supported by this version yet"},
		{"a resource of quotas", "    resources: {limits: {requests.example.com/gpu: 1}}", "9: spec.containers[0].resources.limits[requests.example.com/gpu]: not supported by this version yet"},
		{"a class that only an API server could look up", "  priorityClassName: mine", "9: spec.priorityClassName: mine is not supported by this version yet; supported: system-cluster-critical, system-node-critical"},
		{"an unsupported volume", "  volumes: [{name: v, ephemeral: {}}]", "9: spec.volumes[0].ephemeral: static pods may not reference persistentvolumeclaims (via ephemeral volumes)"},
		{"an empty unsupported volume is not an emptyDir", "  volumes: [{name: v, gitRepo: {}}]", "9: spec.volumes[0].gitRepo: not supported by this version yet"},
		{"a medium", "  volumes: [{name: v, emptyDir: {medium: HugePages}}, {name: w, emptyDir: {medium: HugePages-1Gi}}, {name: x, emptyDir: {medium: Memory}}]", ""},
		{"a medium that is none", "  volumes: [{name: v, emptyDir: {medium: Disk}}]", "9: spec.volumes[0].emptyDir.medium: Disk is not supported by this version yet; supported: Memory, HugePages, HugePages-*"},
		{"a probe", "    livenessProbe: {exec: {command: [a]}}\n    readinessProbe: {httpGet: {port: web, httpHeaders: [{name: A, value: b}]}}\n    startupProbe: {grpc: {port: 1}}", ""},
		{"a probe of two kinds", "    livenessProbe: {exec: {command: [a]}, tcpSocket: {port: 1}}", "9: spec.containers[0].livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type"},
		{"a liveness probe that has to succeed twice", "    livenessProbe: {tcpSocket: {port: 1}, successThreshold: 2}", "9: spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1"},
		{"a readiness probe that has to succeed twice", "    readinessProbe: {tcpSocket: {port: 1}, successThreshold: 2}", ""},
		{"a grace period of a readiness probe", "    readinessProbe: {tcpSocket: {port: 1}, terminationGracePeriodSeconds: 2}", "9: spec.containers[0].readinessProbe.terminationGracePeriodSeconds: Invalid value: 2: must not be set for readinessProbes"},
		{"a probe at no port", "    livenessProbe: {httpGet: {port: 70000}}", "9: spec.containers[0].livenessProbe.httpGet.port: Invalid value: 70000: must be between 1 and 65535, inclusive"},
		{"a probe of an init container", "  initContainers: [{name: i, image: i, startupProbe: {tcpSocket: {port: 1}}}]", "9: spec.initContainers[0].startupProbe: Forbidden: may not be set for init containers without restartPolicy=Always"},
		{"a probe of a sidecar", "  initContainers: [{name: i, image: i, restartPolicy: Always, startupProbe: {tcpSocket: {port: 1}}}]", ""},
		{"hooks", "    lifecycle: {postStart: {exec: {command: [a]}}, preStop: {sleep: {seconds: 5}}}", ""},
		{"a hook that sleeps longer than the pod has", "    lifecycle: {preStop: {sleep: {seconds: 31}}}", "9: spec.containers[0].lifecycle.preStop.sleep: Invalid value: 31: must be 0 to terminationGracePeriodSeconds, which is 30"},
		{"a hook of an init container", "  initContainers: [{name: i, image: i, lifecycle: {postStart: {exec: {command: [a]}}}}]", "9: spec.initContainers[0].lifecycle: Forbidden: may not be set for init containers without restartPolicy=Always"},
		{"a stop signal", "    lifecycle: {stopSignal: SIGRTMIN+15}\n  os: {name: linux}", ""},
		{"a stop signal without a system", "    lifecycle: {stopSignal: SIGUSR1}", "9: spec.containers[0].lifecycle.stopSignal: Forbidden: may not be set for containers with empty `spec.os.name`"},
		{"a stop signal of another system", "    lifecycle: {stopSignal: SIGUSR1}\n  os: {name: windows}", "9: spec.containers[0].lifecycle.stopSignal: Unsupported value: \"SIGUSR1\": supported values: \"SIGKILL\", \"SIGTERM\""},
		{"env from a file", "    env: [{name: A, valueFrom: {fileKeyRef: {key: a, path: p, volumeName: v}}}]\n  volumes: [{name: v, emptyDir: {}}]", ""},
		{"a status that says something", "status: {phase: Running}", "9: status: not supported by this version yet"},
		{"an empty status, which kubectl writes", "status: {}", ""},
		{"an empty list in a status", "status: {conditions: []}", "9: status: not supported by this version yet"},
		{"another scheduler", "  schedulerName: mine", "9: spec.schedulerName: mine is not supported by this version yet; supported: default-scheduler"},
		{"service links either way", "  enableServiceLinks: false", ""},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			t.Parallel()
			expectRefusal(t, manifest(tc.field), tc.want)
		})
	}
}
