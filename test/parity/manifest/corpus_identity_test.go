package manifest

import "strings"

// identityCases are the fields that set the users and the privileges of a pod's processes.
var identityCases = func() []fieldCase {
	ids := func(path string) fieldCase {
		return fieldCase{path: path, valid: []string{"0", "7", "2147483647", "null"}, invalid: []string{"-1", "2147483648", `"7"`, "1.5"}}
	}
	words := func(path string, with ...[2]string) fieldCase {
		return fieldCase{path: path, with: with, valid: []string{"a", `""`, "null"}, invalid: []string{"7"}}
	}
	var all []fieldCase
	for _, at := range []string{"spec.securityContext", "spec.containers[0].securityContext"} {
		profile, options := at+".seccompProfile", at+".seLinuxOptions"
		all = append(all,
			ids(at+".runAsUser"), ids(at+".runAsGroup"),
			fieldCase{path: at + ".runAsNonRoot", valid: []string{"true", "false", "null"}, invalid: []string{"7"}},
			fieldCase{path: profile, valid: []string{"{type: RuntimeDefault}", "{type: Unconfined}", "null"}, invalid: []string{"[]", "{}"}},
			fieldCase{path: profile + ".type", with: [][2]string{{profile, "{type: RuntimeDefault}"}}, valid: []string{"Unconfined"}, invalid: []string{"Other", `""`, "Localhost", "7"}},
			fieldCase{
				path: profile + ".localhostProfile", with: [][2]string{{profile, "{type: Localhost, localhostProfile: a}"}},
				valid: []string{"a/b.json"}, invalid: []string{"/a", "../a", "a/../b", "null", "7"},
			},
			words(options+".user", [2]string{options, "{}"}), words(options+".role", [2]string{options, "{}"}),
			words(options+".type", [2]string{options, "{}"}), words(options+".level", [2]string{options, "{}"}),
		)
	}
	return append(all,
		ids("spec.securityContext.fsGroup"),
		fieldCase{path: "spec.securityContext.fsGroupChangePolicy", valid: []string{"OnRootMismatch", "Always", "null"}, invalid: []string{"Other", "7"}},
		fieldCase{path: "spec.securityContext.supplementalGroups", valid: []string{"[]", "[7, 8]", "null"}, invalid: []string{"[-1]", "7"}},
		fieldCase{path: "spec.securityContext.supplementalGroupsPolicy", valid: []string{"Merge", "Strict", "null"}, invalid: []string{"Other", "7"}},
		fieldCase{path: "spec.containers[0].securityContext.capabilities", valid: []string{"{}", "{drop: [ALL]}", "null"}, invalid: []string{"[]"}},
		fieldCase{path: "spec.containers[0].securityContext.capabilities.add", valid: []string{"[NET_ADMIN]", "[]"}, invalid: []string{"[7]", "NET_ADMIN"}},
		fieldCase{path: "spec.containers[0].securityContext.capabilities.drop", valid: []string{"[ALL, KILL]", "[]"}, invalid: []string{"[7]", "ALL"}},
		fieldCase{path: "spec.containers[0].securityContext.procMount", valid: []string{"Default", "null"}, invalid: []string{"Other", "Unmasked", "7"}},
	)
}()

// nameCases are the fields for the pod's host name, for its DNS, and for variables with fields of
// the pod.
var nameCases = func() []fieldCase {
	const (
		env   = "spec.containers[0].env[0]"
		field = env + ".valueFrom.fieldRef"
		of    = env + ".valueFrom.resourceFieldRef"
		file  = env + ".valueFrom.fileKeyRef"
	)
	none := [2]string{env + ".value", "null"}
	aField := [][2]string{none, {env + ".valueFrom", "{fieldRef: {fieldPath: metadata.name}}"}}
	aResource := [][2]string{none, {env + ".valueFrom", "{resourceFieldRef: {resource: limits.cpu}}"}}
	aFile := [][2]string{none, {env + ".valueFrom", "{fileKeyRef: {volumeName: plain, path: a/b, key: K}}"}}
	aliases := [][2]string{{"spec.hostAliases", "[{ip: 127.0.0.1, hostnames: [a]}]"}}
	option := [][2]string{{"spec.dnsConfig", "{options: [{name: a}]}"}}
	label := func(path string) fieldCase {
		return fieldCase{path: path, valid: []string{"web", `""`, "null", long(63)}, invalid: []string{"a.b", "A", "-a", long(64), "7"}}
	}
	return []fieldCase{
		label("spec.hostname"), label("spec.subdomain"),
		{path: "spec.hostnameOverride", valid: []string{"a", "a.b", "null", long(63)}, invalid: []string{`""`, "A", "a_b", strings.Repeat("a.", 32) + "a", "7"}},
		{path: "spec.hostnameOverride", with: [][2]string{{"spec.setHostnameAsFQDN", "true"}}, invalid: []string{"a"}},
		{path: "spec.hostAliases", valid: []string{"[]", "null", "[{ip: 127.0.0.1, hostnames: [a]}]"}, invalid: []string{"[7]", "{}"}},
		{path: "spec.hostAliases[0].ip", with: aliases, valid: []string{"'::1'", "192.0.2.1"}, invalid: []string{"a", `""`, "null", "7"}},
		{path: "spec.hostAliases[0].hostnames", with: aliases, valid: []string{"[a.b, c]", "[]", "null"}, invalid: []string{"[A_b]", "a", "['']"}},
		{path: "spec.dnsConfig", valid: []string{"{}", "null"}, invalid: []string{"[]"}},
		{path: "spec.dnsConfig.nameservers", with: [][2]string{{"spec.dnsConfig", "{}"}}, valid: []string{"[10.0.0.1, '::1']", "[]"}, invalid: []string{"[a]", "[10.0.0.1, 10.0.0.2, 10.0.0.3, 10.0.0.4]", "['']"}},
		{path: "spec.dnsConfig.searches", with: [][2]string{{"spec.dnsConfig", "{}"}}, valid: []string{"[a.b, '.', c.]", "[]"}, invalid: []string{"['a b']", "[-a]"}},
		{path: "spec.dnsConfig.options[0].name", with: option, valid: []string{"ndots"}, invalid: []string{`""`, "null", "7"}},
		{path: "spec.dnsConfig.options[0].value", with: option, valid: []string{`"2"`, `""`, "null"}, invalid: []string{"2"}},
		{path: "spec.readinessGates", valid: []string{"[]", "null", "[{conditionType: a}]"}, invalid: []string{"[7]", "{}"}},
		{path: "spec.readinessGates[0].conditionType", with: [][2]string{{"spec.readinessGates", "[{conditionType: a}]"}}, valid: []string{"a/b", "B"}, invalid: []string{`""`, "a b", "null"}},
		{path: env + ".valueFrom", with: [][2]string{none}, valid: []string{"null"}, invalid: []string{"{}", "{fieldRef: {fieldPath: metadata.name}, resourceFieldRef: {resource: limits.cpu}}"}},
		{path: env + ".valueFrom", valid: []string{"null"}, invalid: []string{"{fieldRef: {fieldPath: metadata.name}}"}},
		{
			path: field + ".fieldPath", with: aField,
			valid:   []string{"metadata.uid", "metadata.namespace", "\"metadata.labels['a']\"", "\"metadata.annotations['a/b']\"", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.podIPs"},
			invalid: []string{"a", `""`, "null", "metadata.labels", "\"metadata.labels['a b']\"", "\"spec.labels['a']\"", "status.phase"},
		},
		{path: field + ".apiVersion", with: aField, valid: []string{"v1", `""`, "null"}, invalid: []string{"v2", "7"}},
		{path: of + ".resource", with: aResource, valid: []string{"requests.memory", "limits.ephemeral-storage"}, invalid: []string{"cpu", "limits.gpu", `""`, "null"}},
		{path: of + ".containerName", with: aResource, valid: []string{"sidecar", `""`, "null"}, invalid: []string{"7"}},
		{path: file + ".volumeName", with: aFile, valid: []string{"plain", "implied"}, invalid: []string{"logs", "none", `""`, "null", "7"}},
		{path: file + ".path", with: aFile, valid: []string{"a", "/a", "a/..b"}, invalid: []string{"../a", "a/..", `""`, "null", "7"}},
		{path: file + ".key", with: aFile, valid: []string{"a.b", "A-1"}, invalid: []string{"a=b", `""`, "null", "7"}},
		{path: file + ".optional", with: aFile, valid: []string{"true", "false", "null"}, invalid: []string{"1"}},
		{path: of + ".divisor", with: aResource, valid: []string{"1m", "1", "0"}, invalid: []string{"1k", "2", "-1", "a"}},
	}
}()
