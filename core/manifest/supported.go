package manifest

import (
	"slices"
	"strings"
)

// support is a field of the Pod API that this version supports.
type support struct {
	// path is the path of the field: "[]" for the items of a list, "*" for any key of a map.
	path string
	// values describes the allowed values.
	values string
	// only are the allowed values, with "*" at the end for any end; nil allows any valid value.
	only []string
}

// allows reports whether a value is allowed.
func (s support) allows(value string) bool {
	return s.only == nil || slices.ContainsFunc(s.only, func(allowed string) bool {
		start, open := strings.CutSuffix(allowed, "*")
		return value == allowed || open && strings.HasPrefix(value, start)
	})
}

// supported is the table of docs/supported-fields.md. A field that is not in the table must be
// absent, null or, if that means the same, an empty string. So the table decides what a document
// may use, and no field of a document is ignored silently.
var supported = []support{
	{"apiVersion", "`v1`", nil},
	{"kind", "`Pod`; also `List` and `PodList`, whose `items` are pods", nil},
	{"metadata.name", "the node's name is appended: `web` becomes `web-NODE`", nil},
	{"metadata.namespace", "default: `default`", nil},
	{"metadata.uid", "letters, digits and dashes; else derived from the document", nil},
	{"metadata.labels.*", "any, at most 64 KiB together: each counts as its key, its value and 8 bytes", nil},
	{"metadata.annotations.*", "any but `kubernetes.io/config.*`, `wardlet.dev/*` (`wardlet.dev/identity` aside) and what stood for fields once (tolerations, seccomp, AppArmor)", nil},
	{"metadata.creationTimestamp", "ignored, `kubectl` writes it", nil},
	{"spec.containers[].name", "a DNS label", nil},
	{"spec.containers[].image", "any", nil},
	{"spec.containers[].command[]", "any", nil},
	{"spec.containers[].args[]", "any", nil},
	{"spec.containers[].workingDir", "any", nil},
	{"spec.containers[].env[].name", "any", nil},
	{"spec.containers[].env[].value", "any, with `$(NAME)`; expanded, `env`, `command` and `args` of a container have at most 1 MiB together", nil},
	{"spec.containers[].env[].valueFrom.fieldRef.apiVersion", "", []string{"v1"}},
	{"spec.containers[].env[].valueFrom.fieldRef.fieldPath", "`metadata.name`, `.namespace`, `.uid`, `.labels['KEY']`, `.annotations['KEY']`, `spec.nodeName`, `spec.serviceAccountName`, `status.hostIP`, `.hostIPs`, `.podIP`, `.podIPs`", nil},
	{"spec.containers[].env[].valueFrom.resourceFieldRef.containerName", "a container of the pod; default: this one", nil},
	{"spec.containers[].env[].valueFrom.resourceFieldRef.resource", "`limits` or `requests` `.cpu`, `.memory`, `.ephemeral-storage`", nil},
	{"spec.containers[].env[].valueFrom.resourceFieldRef.divisor", "a quantity", nil},
	{"spec.containers[].env[].valueFrom.fileKeyRef.volumeName", "an `emptyDir` of the pod", nil},
	{"spec.containers[].env[].valueFrom.fileKeyRef.path", "a path below it without `..`, of a file of lines `NAME='value'`", nil},
	{"spec.containers[].env[].valueFrom.fileKeyRef.key", "a name in the file", nil},
	{"spec.containers[].env[].valueFrom.fileKeyRef.optional", "any", nil},
	{"spec.containers[].ports[].name", "any", nil},
	{"spec.containers[].ports[].containerPort", "1 to 65535", nil},
	{"spec.containers[].ports[].hostPort", "1 to 65535", nil},
	{"spec.containers[].ports[].hostIP", "an IP address", nil},
	{"spec.containers[].ports[].protocol", "`TCP`, `UDP`, `SCTP`", nil},
	{"spec.containers[].resources.limits.cpu", "a quantity", nil},
	{"spec.containers[].resources.limits.memory", "a quantity", nil},
	{"spec.containers[].resources.limits.ephemeral-storage", "a quantity: how much the pod and the container may use of the node's disk before the pod is evicted", nil},
	{"spec.containers[].resources.limits.hugepages-*", "such as `hugepages-2Mi`: whole pages of that size, beside cpu or memory; the request is the same", nil},
	{"spec.containers[].resources.limits.*/*", "an extended resource such as `example.com/gpu`: a whole number, the request is the same", nil},
	{"spec.containers[].resources.requests.cpu", "a quantity; default: the limit", nil},
	{"spec.containers[].resources.requests.memory", "a quantity; default: the limit", nil},
	{"spec.containers[].resources.requests.ephemeral-storage", "a quantity: what is set aside of the node's disk; default: the limit", nil},
	{"spec.containers[].resources.requests.hugepages-*", "as in `limits`", nil},
	{"spec.containers[].resources.requests.*/*", "as in `limits`; counted where the node has the resource, else without effect", nil},
	{"spec.containers[].volumeMounts[].name", "a volume of the pod", nil},
	{"spec.containers[].volumeMounts[].mountPath", "a path, unique in the container", nil},
	{"spec.containers[].volumeMounts[].readOnly", "any", nil},
	{"spec.containers[].volumeMounts[].subPath", "a relative path without `..`; no link in it leads out of the volume", nil},
	{"spec.containers[].volumeMounts[].subPathExpr", "as `subPath`, with `$(NAME)` of variables that are not empty", nil},
	{"spec.containers[].volumeMounts[].mountPropagation", "`None`, `HostToContainer`; `Bidirectional` of a privileged container", nil},
	{"spec.containers[].volumeMounts[].recursiveReadOnly", "`Disabled`, `IfPossible`, `Enabled`; the last keeps the container from starting where the runtime cannot do it", nil},
	{"spec.containers[].imagePullPolicy", "`Always`, `IfNotPresent`, `Never`", nil},
	{"spec.containers[].terminationMessagePath", "any of at most 4096 bytes", nil},
	{"spec.containers[].terminationMessagePolicy", "`File`, `FallbackToLogsOnError`", nil},
	{"spec.containers[].stdin", "any", nil},
	{"spec.containers[].stdinOnce", "any", nil},
	{"spec.containers[].tty", "any", nil},
	{"spec.containers[].securityContext.privileged", "any", nil},
	{"spec.containers[].securityContext.allowPrivilegeEscalation", "any; not `false` with `privileged` or the capability `SYS_ADMIN`", nil},
	{"spec.containers[].securityContext.readOnlyRootFilesystem", "any", nil},
	{"spec.containers[].securityContext.runAsUser", "0 to 2147483647", nil},
	{"spec.containers[].securityContext.runAsGroup", "0 to 2147483647", nil},
	{"spec.containers[].securityContext.runAsNonRoot", "any: with `true` a container whose user is root, or is known by name only, does not start", nil},
	{"spec.containers[].securityContext.capabilities.add[]", "any", nil},
	{"spec.containers[].securityContext.capabilities.drop[]", "any", nil},
	{"spec.containers[].securityContext.procMount", "the default", []string{"Default"}},
	{"spec.containers[].securityContext.seccompProfile.type", "`RuntimeDefault`, `Unconfined`, `Localhost`", nil},
	{"spec.containers[].securityContext.seccompProfile.localhostProfile", "a file below `seccomp` in `paths.pod_root`, only with type `Localhost`", nil},
	{"spec.containers[].securityContext.seLinuxOptions.user", "any", nil},
	{"spec.containers[].securityContext.seLinuxOptions.role", "any", nil},
	{"spec.containers[].securityContext.seLinuxOptions.type", "any", nil},
	{"spec.containers[].securityContext.seLinuxOptions.level", "any", nil},
	{"spec.containers[].securityContext.appArmorProfile.type", "`RuntimeDefault`, `Localhost`, `Unconfined`", nil},
	{"spec.containers[].securityContext.appArmorProfile.localhostProfile", "a profile that the node has loaded, only with type `Localhost`", nil},
	{"spec.containers[].livenessProbe.exec.command[]", "any; `$(NAME)` stands for variables whose values `env` says in so many words. `readinessProbe` and `startupProbe` are as this one", nil},
	{"spec.containers[].livenessProbe.httpGet.path", "any; default: `/`", nil},
	{"spec.containers[].livenessProbe.httpGet.port", "a number, or the name of one of the container's ports", nil},
	{"spec.containers[].livenessProbe.httpGet.host", "any; default: the pod's address", nil},
	{"spec.containers[].livenessProbe.httpGet.scheme", "`HTTP`, `HTTPS`; who answers is not verified", nil},
	{"spec.containers[].livenessProbe.httpGet.httpHeaders[].name", "a name of HTTP", nil},
	{"spec.containers[].livenessProbe.httpGet.httpHeaders[].value", "any", nil},
	{"spec.containers[].livenessProbe.tcpSocket.port", "as for `httpGet`", nil},
	{"spec.containers[].livenessProbe.tcpSocket.host", "any; default: the pod's address", nil},
	{"spec.containers[].livenessProbe.grpc.port", "1 to 65535", nil},
	{"spec.containers[].livenessProbe.grpc.service", "any", nil},
	{"spec.containers[].livenessProbe.initialDelaySeconds", "0 or more", nil},
	{"spec.containers[].livenessProbe.timeoutSeconds", "0 or more; default: 1", nil},
	{"spec.containers[].livenessProbe.periodSeconds", "0 or more; default: 10", nil},
	{"spec.containers[].livenessProbe.successThreshold", "1; of a `readinessProbe` any", nil},
	{"spec.containers[].livenessProbe.failureThreshold", "0 or more; default: 3", nil},
	{"spec.containers[].livenessProbe.terminationGracePeriodSeconds", "1 or more, not of a `readinessProbe`", nil},
	{"spec.containers[].lifecycle.postStart.exec.command[]", "any. `preStop` is as this one", nil},
	{"spec.containers[].lifecycle.postStart.httpGet.path", "as for a probe", nil},
	{"spec.containers[].lifecycle.postStart.httpGet.port", "as for a probe", nil},
	{"spec.containers[].lifecycle.postStart.httpGet.host", "as for a probe", nil},
	{"spec.containers[].lifecycle.postStart.httpGet.scheme", "as for a probe", nil},
	{"spec.containers[].lifecycle.postStart.httpGet.httpHeaders[].name", "as for a probe", nil},
	{"spec.containers[].lifecycle.postStart.httpGet.httpHeaders[].value", "any", nil},
	{"spec.containers[].lifecycle.postStart.tcpSocket.port", "valid, and fails, as in a kubelet", nil},
	{"spec.containers[].lifecycle.postStart.tcpSocket.host", "as above", nil},
	{"spec.containers[].lifecycle.postStart.sleep.seconds", "0 or more, at most the pod's grace period", nil},
	{"spec.containers[].lifecycle.stopSignal", "a signal of Linux such as `SIGUSR1`, only with `spec.os.name`; default: the image's, or `SIGTERM`", nil},
	{"spec.containers[].restartPolicy", "`Always`, `OnFailure`, `Never`; default: the pod's. `Always` makes an init container a sidecar; all else of `spec.initContainers[]` is as for `spec.containers[]`", nil},
	{"spec.containers[].restartPolicyRules[].action", "`Restart`, `RestartAllContainers`", nil},
	{"spec.containers[].restartPolicyRules[].exitCodes.operator", "`In`, `NotIn`", nil},
	{"spec.containers[].restartPolicyRules[].exitCodes.values[]", "0 to 255", nil},
	{"spec.volumes[].name", "a DNS label", nil},
	{"spec.volumes[].hostPath.path", "an absolute path without `..`", nil},
	{"spec.volumes[].hostPath.type", "any type of the API", nil},
	{"spec.volumes[].emptyDir.medium", "huge pages are those that the pod requests, of the size that the medium has if it requests several: `HugePages-2Mi`", []string{"Memory", "HugePages", "HugePages-*"}},
	{"spec.volumes[].emptyDir.sizeLimit", "a quantity: with medium `Memory` the size of the file system; else a pod that is beyond it and not critical ends, `Evicted`, within seconds", nil},
	{"spec.restartPolicy", "`Always`, `OnFailure`, `Never`", nil},
	{"spec.readinessGates[].conditionType", "a condition that a controller sets at the API server", nil},
	{"spec.terminationGracePeriodSeconds", "0 or more", nil},
	{"spec.activeDeadlineSeconds", "1 to 2147483647", nil},
	{"spec.dnsPolicy", "`ClusterFirst`, `ClusterFirstWithHostNet`, `Default`, `None`; without `cluster.dns` in agent.toml the first two are as `Default`", nil},
	{"spec.dnsConfig.nameservers[]", "IP addresses, at most 3", nil},
	{"spec.dnsConfig.searches[]", "domains, at most 32 and 2048 characters", nil},
	{"spec.dnsConfig.options[].name", "any", nil},
	{"spec.dnsConfig.options[].value", "any", nil},
	{"spec.hostname", "a DNS label; default: the pod's name", nil},
	{"spec.hostnameOverride", "a DNS subdomain of at most 64 characters; not with `hostNetwork` or `setHostnameAsFQDN`", nil},
	{"spec.subdomain", "a DNS label", nil},
	{"spec.hostAliases[].ip", "an IP address", nil},
	{"spec.hostAliases[].hostnames[]", "DNS names", nil},
	{"spec.hostNetwork", "any", nil},
	{"spec.nodeName", "this node's name", nil},
	{"spec.nodeSelector.*", "a label that the node has", nil},
	{"spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[].matchExpressions[].key", "a label", nil},
	{"spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[].matchExpressions[].operator", "`In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt`, `Lt`", nil},
	{"spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[].matchExpressions[].values[]", "values of labels", nil},
	{"spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[].matchFields[].key", "`metadata.name`: the node's", nil},
	{"spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[].matchFields[].operator", "`In`, `NotIn`", nil},
	{"spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[].matchFields[].values[]", "one name", nil},
	{"spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[].weight", "1 to 100; a preference among nodes has no effect on the one that the pod is for", nil},
	{"spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[].preference.matchExpressions[].key", "as above", nil},
	{"spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[].preference.matchExpressions[].operator", "as above", nil},
	{"spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[].preference.matchExpressions[].values[]", "any", nil},
	{"spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[].preference.matchFields[].key", "as above", nil},
	{"spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[].preference.matchFields[].operator", "as above", nil},
	{"spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[].preference.matchFields[].values[]", "as above", nil},
	{"spec.tolerations[].key", "a taint's; empty with operator `Exists` for all", nil},
	{"spec.tolerations[].operator", "`Exists`, `Equal`", nil},
	{"spec.tolerations[].value", "the taint's, with `Equal`", nil},
	{"spec.tolerations[].effect", "`NoSchedule`, `PreferNoSchedule`, `NoExecute`; a pod from a file or a URL tolerates every `NoExecute`; the others count for schedulers", nil},
	{"spec.tolerations[].tolerationSeconds", "any, only with effect `NoExecute`: only a cluster's controllers end pods for taints", nil},
	{"spec.os.name", "`linux`, `windows`; the second is rejected as `PodOSNotSupported`", nil},
	{"spec.securityContext.runAsUser", "0 to 2147483647", nil},
	{"spec.securityContext.runAsGroup", "0 to 2147483647", nil},
	{"spec.securityContext.runAsNonRoot", "any: with `true` a container whose user is root, or is known by name only, does not start", nil},
	{"spec.securityContext.fsGroup", "0 to 2147483647: the group of `emptyDir` volumes and of all processes", nil},
	{"spec.securityContext.fsGroupChangePolicy", "`OnRootMismatch`, `Always`: no volume of today has files before its pod starts, so both mean the same", nil},
	{"spec.securityContext.supplementalGroups[]", "0 to 2147483647", nil},
	{"spec.securityContext.supplementalGroupsPolicy", "`Merge`, `Strict`; the second is rejected where the runtime cannot do it", nil},
	{"spec.securityContext.seccompProfile.type", "`RuntimeDefault`, `Unconfined`, `Localhost`", nil},
	{"spec.securityContext.seccompProfile.localhostProfile", "a file below `seccomp` in `paths.pod_root`, only with type `Localhost`", nil},
	{"spec.securityContext.seLinuxOptions.user", "any", nil},
	{"spec.securityContext.seLinuxOptions.role", "any", nil},
	{"spec.securityContext.seLinuxOptions.type", "any", nil},
	{"spec.securityContext.seLinuxOptions.level", "any", nil},
	{"spec.securityContext.sysctls[].name", "one of the safe ones, or that `runtime.allowed_unsafe_sysctls` allows; none of the node's own namespaces", nil},
	{"spec.securityContext.sysctls[].value", "any", nil},
	{"spec.securityContext.appArmorProfile.type", "as for a container, for those that say nothing", nil},
	{"spec.securityContext.appArmorProfile.localhostProfile", "as for a container", nil},
	{"spec.enableServiceLinks", "any; only pods of an API server have variables of services", nil},
	{"spec.automountServiceAccountToken", "there are no service accounts", []string{"false"}},
	{"spec.schedulerName", "the default", []string{"default-scheduler"}},
	{"spec.hostPID", "any", nil},
	{"spec.hostIPC", "any", nil},
	{"spec.hostUsers", "the default", []string{"true"}},
	{"spec.shareProcessNamespace", "any; not with `hostPID`", nil},
	{"spec.setHostnameAsFQDN", "any: the whole name has at most 64 characters, or the pod does not start", nil},
	{"spec.priority", "any; default: that of the class, else none, which counts as 0", nil},
	{"spec.priorityClassName", "2000000000 and 2000001000", []string{"system-cluster-critical", "system-node-critical"}},
	{"spec.preemptionPolicy", "the default", []string{"PreemptLowerPriority"}},
	{"spec.runtimeClassName", "a `[[runtime.handler]]` of agent.toml or a RuntimeClass of `[objects] dir`; for a pod of an API server, a RuntimeClass there", nil},
	{"spec.resources.limits.cpu", "a quantity: the limit of all containers together, and of each that has none", nil},
	{"spec.resources.limits.memory", "as for cpu", nil},
	{"spec.resources.limits.hugepages-*", "as for cpu; default: the sum of the containers' limits", nil},
	{"spec.resources.requests.cpu", "a quantity: the request of all containers together; default: the sum of the containers' requests, else the limit", nil},
	{"spec.resources.requests.memory", "as for cpu", nil},
	{"spec.resources.requests.hugepages-*", "the limit", nil},
	{"spec.overhead.cpu", "a quantity, counted beside what the containers request and as a part of the pod's limit", nil},
	{"spec.overhead.memory", "as for cpu", nil},
	{"spec.overhead.ephemeral-storage", "a quantity, counted beside what the containers request", nil},
	{"spec.imagePullSecrets[].name", "a Secret of type `kubernetes.io/dockerconfigjson` or `kubernetes.io/dockercfg`; one that is missing is left out", nil},
	{"spec.containers[].env[].valueFrom.configMapKeyRef.name", "any", nil},
	{"spec.containers[].env[].valueFrom.configMapKeyRef.key", "any", nil},
	{"spec.containers[].env[].valueFrom.configMapKeyRef.optional", "any", nil},
	{"spec.containers[].env[].valueFrom.secretKeyRef.name", "any", nil},
	{"spec.containers[].env[].valueFrom.secretKeyRef.key", "any", nil},
	{"spec.containers[].env[].valueFrom.secretKeyRef.optional", "any", nil},
	{"spec.containers[].envFrom[].prefix", "any", nil},
	{"spec.containers[].envFrom[].configMapRef.name", "any", nil},
	{"spec.containers[].envFrom[].configMapRef.optional", "any", nil},
	{"spec.containers[].envFrom[].secretRef.name", "any", nil},
	{"spec.containers[].envFrom[].secretRef.optional", "any", nil},
	{"spec.volumes[].configMap.name", "any", nil},
	{"spec.volumes[].configMap.optional", "any", nil},
	{"spec.volumes[].configMap.defaultMode", "0 to 0777 (511)", nil},
	{"spec.volumes[].configMap.items[].key", "any", nil},
	{"spec.volumes[].configMap.items[].path", "a relative path without `..`", nil},
	{"spec.volumes[].configMap.items[].mode", "0 to 0777 (511)", nil},
	{"spec.volumes[].secret.secretName", "any", nil},
	{"spec.volumes[].secret.optional", "any", nil},
	{"spec.volumes[].secret.defaultMode", "0 to 0777 (511)", nil},
	{"spec.volumes[].secret.items[].key", "any", nil},
	{"spec.volumes[].secret.items[].path", "a relative path without `..`", nil},
	{"spec.volumes[].secret.items[].mode", "0 to 0777 (511)", nil},
	{"spec.volumes[].downwardAPI.defaultMode", "0 to 0777 (511)", nil},
	{"spec.volumes[].downwardAPI.items[].path", "a relative path without `..`", nil},
	{"spec.volumes[].downwardAPI.items[].mode", "0 to 0777 (511)", nil},
	{"spec.volumes[].downwardAPI.items[].fieldRef.apiVersion", "", []string{"v1"}},
	{"spec.volumes[].downwardAPI.items[].fieldRef.fieldPath", "as for a projected volume", nil},
	{"spec.volumes[].downwardAPI.items[].resourceFieldRef.containerName", "a container of the pod", nil},
	{"spec.volumes[].downwardAPI.items[].resourceFieldRef.resource", "`limits` or `requests` `.cpu`, `.memory`, `.ephemeral-storage`", nil},
	{"spec.volumes[].downwardAPI.items[].resourceFieldRef.divisor", "a quantity", nil},
	{"spec.volumes[].projected.defaultMode", "0 to 0777 (511)", nil},
	{"spec.volumes[].projected.sources[].configMap.name", "any", nil},
	{"spec.volumes[].projected.sources[].configMap.optional", "any", nil},
	{"spec.volumes[].projected.sources[].configMap.items[].key", "any", nil},
	{"spec.volumes[].projected.sources[].configMap.items[].path", "a relative path without `..`", nil},
	{"spec.volumes[].projected.sources[].configMap.items[].mode", "0 to 0777 (511)", nil},
	{"spec.volumes[].projected.sources[].secret.name", "any", nil},
	{"spec.volumes[].projected.sources[].secret.optional", "any", nil},
	{"spec.volumes[].projected.sources[].secret.items[].key", "any", nil},
	{"spec.volumes[].projected.sources[].secret.items[].path", "a relative path without `..`", nil},
	{"spec.volumes[].projected.sources[].secret.items[].mode", "0 to 0777 (511)", nil},
	{"spec.volumes[].projected.sources[].downwardAPI.items[].resourceFieldRef.containerName", "a container of the pod", nil},
	{"spec.volumes[].projected.sources[].downwardAPI.items[].resourceFieldRef.resource", "`limits` or `requests` `.cpu`, `.memory`, `.ephemeral-storage`", nil},
	{"spec.volumes[].projected.sources[].downwardAPI.items[].resourceFieldRef.divisor", "a quantity", nil},
	{"spec.volumes[].projected.sources[].downwardAPI.items[].path", "a relative path without `..`", nil},
	{"spec.volumes[].projected.sources[].downwardAPI.items[].mode", "0 to 0777 (511)", nil},
	{"spec.volumes[].projected.sources[].downwardAPI.items[].fieldRef.apiVersion", "", []string{"v1"}},
	{"spec.volumes[].projected.sources[].downwardAPI.items[].fieldRef.fieldPath", "`metadata.name`, `.namespace`, `.uid`, `.labels`, `.annotations`, `.labels['KEY']`, `.annotations['KEY']`", nil},
}

// supportedOfAPI are the rows that only a pod of an API server may have.
var supportedOfAPI = []support{
	{"spec.containers[].securityContext.windowsOptions.gmsaCredentialSpecName", "any: it means something on Windows only", nil},
	{"spec.containers[].securityContext.windowsOptions.gmsaCredentialSpec", "any: it means something on Windows only", nil},
	{"spec.containers[].securityContext.windowsOptions.runAsUserName", "any: it means something on Windows only", nil},
	{"spec.containers[].securityContext.windowsOptions.hostProcess", "any: it means something on Windows only", nil},
	{"spec.securityContext.windowsOptions.gmsaCredentialSpecName", "any: it means something on Windows only", nil},
	{"spec.securityContext.windowsOptions.gmsaCredentialSpec", "any: it means something on Windows only", nil},
	{"spec.securityContext.windowsOptions.runAsUserName", "any: it means something on Windows only", nil},
	{"spec.securityContext.windowsOptions.hostProcess", "any: it means something on Windows only", nil},
	{"spec.ephemeralContainers[].targetContainerName", "a container of the pod, whose processes the container sees; all else but `ports` and `resources` is as for `spec.containers[]`", nil},
	{"spec.volumes[].projected.sources[].serviceAccountToken.audience", "any", nil},
	{"spec.volumes[].projected.sources[].serviceAccountToken.expirationSeconds", "600 or more", nil},
	{"spec.volumes[].projected.sources[].serviceAccountToken.path", "a relative path without `..`", nil},
}

// rowsOfKinds returns the rows of init containers, which have the fields of regular containers, and
// of ephemeral containers, which have no ports, resources or lifecycle, and are not restarted.
func rowsOfKinds() (rows []support) {
	for _, s := range slices.Concat(supported, supportedOfAPI) {
		name, ok := strings.CutPrefix(s.path, "spec.containers[].")
		if !ok {
			continue
		}
		rows = append(rows, support{"spec.initContainers[]." + name, s.values, s.only})
		if hook, ok := strings.CutPrefix(name, "lifecycle.postStart"); ok {
			rows = append(rows, support{"spec.containers[].lifecycle.preStop" + hook, s.values, s.only}, support{"spec.initContainers[].lifecycle.preStop" + hook, s.values, s.only})
			continue
		}
		if probe, ok := strings.CutPrefix(name, "livenessProbe"); ok {
			for _, kind := range []string{"readinessProbe", "startupProbe"} {
				rows = append(rows, support{"spec.containers[]." + kind + probe, s.values, s.only}, support{"spec.initContainers[]." + kind + probe, s.values, s.only})
			}
			continue
		}
		if !strings.HasPrefix(name, "ports[]") && !strings.HasPrefix(name, "resources.") && !strings.HasPrefix(name, "restartPolicy") && !strings.HasPrefix(name, "lifecycle.") {
			rows = append(rows, support{"spec.ephemeralContainers[]." + name, s.values, s.only})
		}
	}
	return rows
}

// supportRows has the table's rows by path, and every object and list on the path to one of them.
var supportRows = func() map[string]support {
	rows := map[string]support{}
	for _, s := range slices.Concat(supported, supportedOfAPI, rowsOfKinds()) {
		rows[s.path] = s
		for path := s.path; path != ""; {
			if list, ok := strings.CutSuffix(path, "[]"); ok {
				path = list
			} else {
				path = path[:max(0, strings.LastIndexByte(path, '.'))]
			}
			if _, ok := rows[path]; !ok {
				rows[path] = support{path: path}
			}
		}
	}
	return rows
}()

// supportOf returns the row of a field; ok is false if the field is not supported.
func supportOf(path string) (s support, ok bool) {
	s, ok = supportRows[path]
	return s, ok
}
