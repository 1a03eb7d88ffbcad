package manifest

import "strings"

var containerCases = []fieldCase{
	{
		path: "spec.containers[0].name", valid: []string{"a", long(63), `"0"`},
		invalid: []string{`""`, "null", "a_b", "A", long(64), "-a", "a.b", "sidecar", "7"},
	},
	{
		path:    "spec.containers[0].image",
		valid:   []string{"i", "i:latest", "host:5000/i", "host:5000/a/i:1", "i@sha256:" + long(64), "'in valid'", "i:1@sha256:" + long(64), "'A b'", "'@'", "':'", "i:latest@x", "'/'"},
		invalid: []string{`""`, "null", "' i'", "'i '", "\"\\ti\"", "7"},
	},
	{path: "spec.containers[0].command", valid: []string{"[]", "null", "[a, '']", "['$(A)']"}, invalid: []string{"a", "[7]", "[[a]]", "{}"}},
	{path: "spec.containers[0].args", valid: []string{"[]", "null", "[a, '', null]"}, invalid: []string{"a", "[true]", "[{}]"}},
	{path: "spec.containers[0].workingDir", valid: []string{"/", "relative", `""`, "null", "../.."}, invalid: []string{"7"}},
	{path: "spec.containers[0].imagePullPolicy", valid: []string{"Always", "IfNotPresent", "Never", `""`, "null"}, invalid: []string{"always", "Often", "7"}},
	{
		path: "spec.containers[0].imagePullPolicy", valid: []string{`""`},
		with: [][2]string{{"spec.containers[0].image", "i@sha256:" + long(64)}, {"spec.containers[1].image", "host:5000/i"}},
	},
	{
		path: "spec.containers[0].image",
		valid: []string{
			"i", "i:latest", "i:1", "host:5000/i", "host:5000/i:1", "Host/i", "I", "a b", "'i:'", "i@", "'@'", "/", "a__b/c.d-e", "a_-b", "'[::1]:5000/i'", "'[::1]/i:latest'",
			long(64), long(63), long(247), long(248), strings.Repeat("f", 64), "i@sha256:" + strings.Repeat("a", 64), "i:latest@sha256:" + strings.Repeat("a", 64), "i@sha256:" + strings.Repeat("A", 64),
			"i@md5:" + strings.Repeat("a", 32), "i@sha512:" + strings.Repeat("0", 128), "i:" + long(128), "i:" + long(129), "a.b_/c", "localhost/i", "localhost:5000/I", "a//b", "i:-a",
			"h/" + long(255), "h.i/" + long(256), "docker.io/i", "a.b__c/d", "ä", "i:ä",
		},
		with: [][2]string{{"spec.containers[0].imagePullPolicy", "null"}},
	},
	{path: "spec.containers[0].terminationMessagePath", valid: []string{"/a", "relative", `""`, "null", "/../x"}, invalid: []string{"7"}},
	{path: "spec.containers[0].terminationMessagePolicy", valid: []string{"File", "FallbackToLogsOnError", `""`, "null"}, invalid: []string{"Log", "file"}},
	{path: "spec.containers[0].stdin", valid: []string{"true", "false", "null"}, invalid: []string{`"true"`, "1"}},
	{path: "spec.containers[0].stdinOnce", valid: []string{"true", "false", "null"}, invalid: []string{`"true"`}},
	{path: "spec.containers[0].tty", valid: []string{"true", "false", "null"}, invalid: []string{`"true"`}},
	{path: "spec.containers[0].securityContext", valid: []string{"{}", "null"}, invalid: []string{"[]"}},
	{path: "spec.containers[0].securityContext.privileged", valid: []string{"false", "null"}, invalid: []string{"1"}},
	{
		path: "spec.containers[0].securityContext.privileged", with: [][2]string{{"spec.containers[0].securityContext.allowPrivilegeEscalation", "null"}},
		valid: []string{"true"},
	},
	{path: "spec.containers[0].securityContext.allowPrivilegeEscalation", valid: []string{"true", "false", "null"}, invalid: []string{"1"}},
	{path: "spec.containers[0].securityContext.allowPrivilegeEscalation", with: [][2]string{{"spec.containers[0].securityContext.privileged", "true"}}, invalid: []string{"false"}},
	{path: "spec.containers[0].securityContext.readOnlyRootFilesystem", valid: []string{"true", "false", "null"}, invalid: []string{"1"}},
	{path: "spec.containers[0].env", valid: []string{"[]", "null", "[{name: A}, {name: A, value: b}]"}, invalid: []string{"{}", "[7]", "[null]", "[A=b]"}},
	{
		path:    "spec.containers[0].env[0].name",
		valid:   []string{"a", "a.b", "a-b", "'1a'", "'A B'", "'a:b'", "_", "'..'", "a/b"},
		invalid: []string{`""`, "null", "a=b", "ä", "7", "\"a\\tb\""},
	},
	{path: "spec.containers[0].env[0].value", valid: []string{"a", `""`, "null", "$(A)", "$$(A)", "'a\n\n b'", "ä"}, invalid: []string{"7", "true", "{}"}},
}

var portCases = []fieldCase{
	{path: "spec.containers[0].ports", valid: []string{"[]", "null"}, invalid: []string{"[{}]", "[80]", "{}", "[null]"}},
	{
		path: "spec.containers[0].ports[0].name", valid: []string{"a", "a-b", long(15), `""`, "null", "8a"},
		invalid: []string{"A", long(16), "a--b", "-a", "a-", `"8"`, "a_b", "dns", "7"},
	},
	{
		path: "spec.containers[0].ports[0].containerPort", valid: []string{"1", "65535", "53", "0x50", "080.0", "0120"},
		invalid: []string{"0", "-1", "65536", "null", `"80"`, "1.5", "2147483648", "http"},
	},
	{path: "spec.containers[0].ports[0].hostPort", valid: []string{"0", "1", "65535", "null", "8080"}, invalid: []string{"-1", "65536", `"80"`}},
	{
		path: "spec.containers[0].ports[0].hostPort", invalid: []string{"8080"},
		with: [][2]string{{"spec.containers[0].ports[0].protocol", "UDP"}, {"spec.containers[0].ports[0].hostIP", "null"}},
	},
	{
		path: "spec.containers[0].ports[0].hostPort", valid: []string{"8080"}, with: [][2]string{{"spec.containers[0].ports[0].protocol", "UDP"}},
	},
	{
		path: "spec.containers[1].ports", valid: []string{"[{containerPort: 80, name: http}]", "[{containerPort: 1, hostPort: 8080, protocol: SCTP}]"},
		invalid: []string{"[{containerPort: 1, hostPort: 8080, protocol: UDP}]", "[{containerPort: 1, hostPort: 8080, hostIP: 127.0.0.1}]"},
	},
	{
		path: "spec.containers[0].ports[0].hostIP", valid: []string{"0.0.0.0", `"::1"`, `""`, "null", "255.255.255.255"},
		invalid: []string{"7"},
		differs: map[string]string{"here": "host-ip", "1.2.3": "host-ip", "10.0.0.01": "host-ip", `"fe80::1%eth0"`: "host-ip", "10.0.0.0/8": "host-ip"},
	},
	{path: "spec.containers[0].ports[0].protocol", valid: []string{"TCP", "UDP", "SCTP", `""`, "null"}, invalid: []string{"tcp", "ICMP", "7"}},
	{
		path: "spec.containers[0].ports", with: [][2]string{{"spec.hostNetwork", "true"}},
		valid:   []string{"[]", "[{containerPort: 80}]", "[{containerPort: 80, hostPort: 80}]", "[{containerPort: 80}, {containerPort: 80, protocol: UDP}]"},
		invalid: []string{"[{containerPort: 80, hostPort: 81}]", "[{containerPort: 80}, {containerPort: 80}]", "[{}]", "[{containerPort: 70000}]"},
	},
}

var resourceCases = []fieldCase{
	{path: "spec.containers[0].resources", valid: []string{"{}", "null", "{limits: {}}", "{requests: {}}", "{limits: null}", "{limits: {}, requests: {}}"}, invalid: []string{"[]", "7"}},
	{
		path:    "spec.containers[0].resources.limits.cpu",
		valid:   []string{"1", "250m", "0.25", "1.5", "'0.3'", "251m", "1k", "0.2501"},
		invalid: []string{"-1", "lots", "''", "null", "249m", "0", "[1]", "true", "1mm"},
	},
	{
		path: "spec.containers[1].resources.limits.cpu", valid: []string{"0", "1u", "1n", "0.0001", "1e3", "1E", "+1", "100.5m", ".5", "5.", "1e-3", "m"},
		invalid: []string{"-1m", "1e", "0x10m", "1.2.3", "NaN"},
		differs: map[string]string{"1e999": "huge-quantity", "1e100": "huge-quantity", "'1." + strings.Repeat("0", 70) + "1'": "huge-quantity"},
	},
	{
		path: "spec.containers[1].resources.limits.memory", valid: []string{"0", "1", "1.5", "100m", "1Ki", "1Ei", "1e6", "9223372036854775807", "18446744073709551616", "128974848", "1.5Gi", "Mi"},
		invalid: []string{"-1", "1kb", "1 Gi"},
	},
	{path: "spec.containers[0].resources.requests.cpu", valid: []string{"0", "500m", "0.5", "null", "0.0005"}, invalid: []string{"501m", "-1", "1", "'0.5001'"}},
	{path: "spec.containers[0].resources.requests.memory", valid: []string{"0", "64Mi", "null", "67108864"}, invalid: []string{"67108865", "65Mi", "-1", "1Gi"}},
	{
		path:    "spec.containers[0].resources.requests",
		valid:   []string{"{}", "null", "{cpu: 1m}", "{ephemeral-storage: 1Gi}", "{ephemeral-storage: 0}", "{example.com/gpu: 1}", "{example.com/gpu: '1.0'}"},
		invalid: []string{"{nonsense: 1}", "{ephemeral-storage: -1}", "{example.com/gpu: 2}", "{example.com/gpu: 0}", "{example.com/fpga: 1}", "{hugepages-2Mi: 2Mi}"},
		differs: map[string]string{"{kubernetes.io/gpu: 1}": unsupported},
	},
	{
		path:  "spec.containers[0].resources.limits",
		valid: []string{"{cpu: 1}", "{memory: 64Mi}", "{ephemeral-storage: 1Gi}", "{example.com/gpu: 1}", "{example.com/gpu: 0}", "{a/b: 1k}", "{example.com/gpu: null}", "{hugepages-2Mi: 2Mi}", "{hugepages-2Mi: 0, cpu: 1}", "{hugepages-1Gi: 2Gi, hugepages-64Ki: 64Ki}", "{" + long(63) + "/" + long(63) + ": 1}"},
		invalid: []string{
			"{nonsense: 1}", "{cpu: 1, nonsense: 1}", "{example.com/gpu: 1.5}", "{example.com/gpu: 100m}", "{example.com/gpu: -1}", "{example.com/: 1}", "{Example.com/gpu: 1}",
			"{hugepages-2Mi: 3Mi}", "{hugepages-2Mi: -2Mi}", "{hugepages-: 2Mi}", "{hugepages-x: 2Mi}", "{hugepages-0: 0}", "{/gpu: 1}", "{a/b/c: 1}", "{requests.example.com/gpu: 1}", "{example.com/" + long(64) + ": 1}",
		},
		differs: map[string]string{"{kubernetes.io/gpu: 1}": unsupported, "{example.com/gpu: 1e999}": "huge-quantity"},
	},
	{path: "spec.containers[0].resources.limits.ephemeral-storage", valid: []string{"1Gi", "1.5Gi", "1e12"}, invalid: []string{"0", "null", "0.5", "1n", "1023Mi", "-1", "lots"}},
	{path: "spec.containers[0].resources.requests.ephemeral-storage", valid: []string{"0", "1Gi", "null", "0.5", "1n"}, invalid: []string{"-1", "lots"}},
	{path: "spec.containers[0].resources.limits[example.com/gpu]", valid: []string{"0", "8", "1k", "null"}, invalid: []string{"-1", "0.5", "lots", "1m"}},
	{path: "spec.containers[0].resources.requests[example.com/gpu]", valid: []string{"1", "1000m"}, invalid: []string{"0", "2", "null", "0.5", "-1"}},
	{path: "spec.containers[0].resources.limits.hugepages-2Mi", valid: []string{"0", "2Mi", "1Gi"}, invalid: []string{"-2Mi", "1Mi", "lots"}},
	{path: "spec.containers[0].resources.requests.hugepages-2Mi", invalid: []string{"2Mi", "1Mi", "-2Mi"}},
	{
		path: "spec.containers[0].resources.requests.hugepages-2Mi", with: [][2]string{{"spec.containers[0].resources.limits.hugepages-2Mi", "2Mi"}},
		valid: []string{"2Mi", "2048Ki"}, invalid: []string{"0", "4Mi"},
	},
	{path: "spec.containers[0].resources.claims", valid: []string{"null"}, invalid: []string{"[{name: a}]"}, differs: map[string]string{"[]": unsupported}},
}

var volumeCases = []fieldCase{
	{path: "spec.volumes[2].name", valid: []string{"a", long(63), `"0"`}, invalid: []string{`""`, "null", "A", "a.b", long(64), "logs", "7"}},
	{path: "spec.volumes[0].name", invalid: []string{"other", "scratch"}},
	{
		path: "spec.volumes[0].hostPath.path", valid: []string{"/", "/a", "/a..b", "/a//b", "/a/./b", "/ä"},
		invalid: []string{`""`, "null", "/a/../b", "..", "/..", "7"},
		differs: map[string]string{"relative": "relative-host-path", "a/b": "relative-host-path", "./a": "relative-host-path"},
	},
	{
		path:    "spec.volumes[0].hostPath.type",
		valid:   []string{`""`, "null", "DirectoryOrCreate", "Directory", "FileOrCreate", "File", "Socket", "CharDevice", "BlockDevice"},
		invalid: []string{"Dir", "directory", "7"},
	},
	{path: "spec.volumes[0].hostPath", invalid: []string{"{}", "[]"}, valid: []string{"null"}},
	{path: "spec.volumes[1].emptyDir", valid: []string{"{}", "null", "{medium: ''}", "{medium: Memory}"}, invalid: []string{"[]", "7"}},
	{
		path: "spec.volumes[1].emptyDir.medium", valid: []string{"Memory", "null", `""`, "HugePages", "HugePages-2Mi", "HugePages-"}, invalid: []string{"7"},
		with:    [][2]string{{"spec.volumes[1].emptyDir.sizeLimit", "null"}},
		differs: map[string]string{"Disk": unsupported},
	},
	{
		path: "spec.volumes[1].emptyDir.sizeLimit", valid: []string{"null", "0", "1", "1Gi", "100m", "1.5Ki"}, invalid: []string{"-1", "lots", "true"},
		differs: map[string]string{"1e999": "huge-quantity"},
	},
	{path: "spec.volumes[2].emptyDir.sizeLimit", valid: []string{"1Gi", "0"}, invalid: []string{"-1"}},
	{path: "spec.volumes[0].emptyDir", invalid: []string{"{}", "{medium: Memory}"}},
	{path: "spec.containers[0].volumeMounts", valid: []string{"[]", "null"}, invalid: []string{"[{}]", "[{name: logs}]", "[{mountPath: /a}]", "{}", "[null]"}},
	{path: "spec.containers[0].volumeMounts[1].name", valid: []string{"logs", "plain", "implied"}, invalid: []string{`""`, "null", "nowhere", "Logs", "7"}},
	{
		path: "spec.containers[0].volumeMounts[1].mountPath", valid: []string{"/a", "/", "relative", "../a", "/logs/", "/a:b", "' '", "/etc/hosts"},
		invalid: []string{`""`, "null", "/logs", "7"},
	},
	{path: "spec.containers[0].volumeMounts[0].readOnly", valid: []string{"true", "false", "null"}, invalid: []string{"1"}},
	{
		path: "spec.containers[0].volumeMounts[0].subPath", valid: []string{"a", "a/b", `""`, "null", "'..a/b..'", "'$(A)'", "./a", "a//b"},
		invalid: []string{"/a", "..", "a/../b", "../a", "7"},
	},
	{
		path: "spec.containers[0].volumeMounts[0].subPathExpr", valid: []string{"a", "'$(A)/b'", `""`, "null"},
		invalid: []string{"/a", "a/../b", "'$(A)/..'", "7"},
	},
	{
		path: "spec.containers[0].volumeMounts[0].subPathExpr", invalid: []string{"a"},
		with: [][2]string{{"spec.containers[0].volumeMounts[0].subPath", "b"}},
	},
	{
		path: "spec.containers[0].volumeMounts[0].mountPropagation", valid: []string{"None", "HostToContainer", "null"}, invalid: []string{`""`, "Bidirectional", "none"},
	},
	{
		path: "spec.containers[0].volumeMounts[0].recursiveReadOnly", valid: []string{"Disabled", "null", "Enabled", "IfPossible"}, invalid: []string{`""`, "disabled"},
	},
	{
		path: "spec.containers[0].volumeMounts[0].recursiveReadOnly", valid: []string{"Disabled", "null"}, invalid: []string{"Enabled", "IfPossible"},
		with: [][2]string{{"spec.containers[0].volumeMounts[0].readOnly", "false"}},
	},
	{
		path: "spec.containers[0].volumeMounts[0].recursiveReadOnly", valid: []string{"Disabled"}, invalid: []string{"Enabled"},
		with: [][2]string{{"spec.containers[0].volumeMounts[0].mountPropagation", "HostToContainer"}},
	},
}
