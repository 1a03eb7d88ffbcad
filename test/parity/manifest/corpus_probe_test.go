package manifest

import "slices"

// within returns a case of a field below parent, which has the value base.
func within(parent, base, path string, valid, invalid []string) fieldCase {
	return fieldCase{path: parent + "." + path, with: [][2]string{{parent, base}}, valid: valid, invalid: invalid}
}

var (
	numbers    = []string{"0", "1", "2147483647", "null"}
	noNumbers  = []string{"-1", "2147483648", "1.5", `"1"`}
	ports      = []string{"1", "65535", "http", "a-b", `"8080a"`}
	noPorts    = []string{"0", "65536", "null", `"80"`, "A", long(16), "-1", "{}"}
	headers    = []string{"a", "X-A", "Host"}
	noHeaders  = []string{"a b", `""`, "null", "7", "a:b"}
	texts      = []string{"a", `""`, "null", "$(A)", "'a b'"}
	paths      = []string{"/", "a", "/a?b=c", `""`, "null"}
	schemes    = []string{"HTTP", "HTTPS", "null", `""`}
	noSchemes  = []string{"http", "FTP", "7"}
	commands   = []string{"[a]", "[a, '']", "['$(A)']"}
	noCommands = []string{"[]", "null", "a", "[7]"}
	notText    = []string{"7", "[]"}
)

// httpCases are the cases of an HTTP request.
func httpCases(parent string) []fieldCase {
	const base = "{httpGet: {port: 80}}"
	const more = "{httpGet: {port: 80, httpHeaders: [{name: A, value: b}]}}"
	return []fieldCase{
		within(parent, base, "httpGet.path", paths, notText),
		within(parent, base, "httpGet.port", ports, noPorts),
		within(parent, base, "httpGet.host", texts, notText),
		within(parent, base, "httpGet.scheme", schemes, noSchemes),
		within(parent, base, "httpGet.httpHeaders", []string{"[]", "null", "[{name: A}]"}, []string{"{}", "[{}]", "[a]"}),
		within(parent, more, "httpGet.httpHeaders[0].name", headers, noHeaders),
		within(parent, more, "httpGet.httpHeaders[0].value", texts, notText),
	}
}

// probeCases are the cases of one of a container's probes.
func probeCases(kind string) []fieldCase {
	parent := "spec.containers[0]." + kind
	const base, grpc = "{tcpSocket: {port: 80}}", "{grpc: {port: 80}}"
	cases := []fieldCase{
		{path: parent, valid: []string{"null", "{exec: {command: [a]}}", "{httpGet: {port: 80}}", base, grpc}, invalid: []string{
			"{}", "{exec: {}}", "{httpGet: {}}", "{tcpSocket: {}}", "{grpc: {}}", "{exec: {command: [a]}, grpc: {port: 80}}", "{periodSeconds: 1}", "[]", "7",
		}},
		within(parent, "{exec: {command: [a]}}", "exec.command", commands, noCommands),
		within(parent, base, "tcpSocket.port", ports, noPorts),
		within(parent, base, "tcpSocket.host", texts, notText),
		within(parent, grpc, "grpc.port", []string{"1", "65535"}, []string{"0", "65536", "null", "http"}),
		within(parent, grpc, "grpc.service", texts, notText),
		within(parent, base, "initialDelaySeconds", numbers, noNumbers),
		within(parent, base, "timeoutSeconds", numbers, noNumbers),
		within(parent, base, "periodSeconds", numbers, noNumbers),
		within(parent, base, "failureThreshold", numbers, noNumbers),
	}
	if kind == "readinessProbe" {
		cases = append(cases, within(parent, base, "successThreshold", numbers, noNumbers),
			within(parent, base, "terminationGracePeriodSeconds", []string{"null"}, []string{"0", "1", "-1"}))
	} else {
		cases = append(cases, within(parent, base, "successThreshold", []string{"0", "1", "null"}, append([]string{"2"}, noNumbers...)),
			within(parent, base, "terminationGracePeriodSeconds", []string{"1", "null", "9223372036854775807"}, []string{"0", "-1", "1.5"}))
	}
	return append(cases, httpCases(parent)...)
}

// hookCases are the cases of one of a container's hooks.
func hookCases(kind string) []fieldCase {
	parent := "spec.containers[0].lifecycle." + kind
	const base, sleep = "{tcpSocket: {port: 80}}", "{sleep: {seconds: 3}}"
	cases := []fieldCase{
		{path: parent, valid: []string{"null", "{exec: {command: [a]}}", "{httpGet: {port: 80}}", base, sleep}, invalid: []string{
			"{}", "{exec: {}}", "{httpGet: {}}", "{exec: {command: [a]}, sleep: {seconds: 3}}", "[]", "7",
		}},
		within(parent, "{exec: {command: [a]}}", "exec.command", commands, noCommands),
		within(parent, base, "tcpSocket.port", ports, noPorts),
		within(parent, base, "tcpSocket.host", texts, notText),
		within(parent, sleep, "sleep.seconds", []string{"0", "1", "5"}, []string{"-1", "6", "1.5", "a"}),
	}
	return append(cases, httpCases(parent)...)
}

// kindCases are the cases of init containers and of restart rules of containers.
var kindCases = []fieldCase{
	{
		path:  "spec.initContainers",
		valid: []string{"[]", "null", "[{name: init, image: i}]", "[{name: init, image: i, restartPolicy: Always, startupProbe: {exec: {command: [a]}}}, {name: more, image: i, ports: [{containerPort: 80}]}]"},
		invalid: []string{
			"[{}]", "[{name: init}]", "[{name: web, image: i}]", "[{name: init, image: i}, {name: init, image: i}]", "{}", "[7]",
			"[{name: init, image: i, livenessProbe: {exec: {command: [a]}}}]", "[{name: init, image: i, lifecycle: {preStop: {exec: {command: [a]}}}}]",
			"[{name: init, image: i, restartPolicy: Once}]",
		},
	},
	{path: "spec.containers[0].lifecycle", valid: []string{"null", "{}"}, invalid: []string{"[]", "7"}},
	{
		path: "spec.containers[0].lifecycle.stopSignal", valid: []string{"SIGUSR1", "SIGTERM", "SIGIOT", "SIGRTMIN", "SIGRTMIN+15", "SIGRTMAX-14", "null"},
		invalid: []string{"SIGRTMIN+16", "SIGRTMAX-15", "USR1", `""`, "sigterm", "15", "RUNTIME_DEFAULT"},
		with:    [][2]string{{"spec.os", "{name: linux}"}},
	},
	{path: "spec.containers[0].lifecycle.stopSignal", valid: []string{"null"}, invalid: []string{"SIGUSR1"}, with: [][2]string{{"spec.os", "null"}}},
	{path: "spec.containers[0].restartPolicy", valid: []string{"Always", "OnFailure", "Never", "null"}, invalid: []string{"Once", `""`, "7"}},
	restart("restartPolicyRules", []string{"[]", "null"}, []string{"[{}]", "{}", "[{action: Restart}]"}),
	restart("restartPolicyRules[0].action", []string{"Restart", "RestartAllContainers"}, []string{`""`, "null", "Stop", "7"}),
	restart("restartPolicyRules[0].exitCodes.operator", []string{"In", "NotIn"}, []string{`""`, "null", "Is", "7"}),
	restart("restartPolicyRules[0].exitCodes.values", []string{"[0]", "[1, 255]", "[]"}, []string{"7", "[a]", "[1.5]"}),
	{path: "spec.containers[0].restartPolicyRules", invalid: []string{"[{action: Restart, exitCodes: {operator: In, values: [1]}}]"}},
}

// restart returns a case of a container with a restart rule.
func restart(path string, valid, invalid []string) fieldCase {
	return fieldCase{path: "spec.containers[0]." + path, valid: valid, invalid: invalid, with: [][2]string{
		{"spec.containers[0].restartPolicy", "Never"},
		{"spec.containers[0].restartPolicyRules", "[{action: Restart, exitCodes: {operator: In, values: [42]}}]"},
	}}
}

var ofProbes = slices.Concat(kindCases, probeCases("livenessProbe"), probeCases("readinessProbe"), probeCases("startupProbe"), hookCases("postStart"), hookCases("preStop"))
