package manifest

// objectCases are the fields that use ConfigMaps, Secrets and the pod itself.
var objectCases = func() []fieldCase {
	const (
		env       = "spec.containers[0].env[0]"
		from      = "spec.containers[0].envFrom"
		volume    = "spec.volumes[3]"
		projected = volume + ".projected"
		source    = projected + ".sources[0]"
	)
	// named are values that Wardlet accepts. A kubelet would accept them if static pods might name
	// such objects.
	named := func(values ...string) map[string]string {
		m := map[string]string{}
		for _, v := range values {
			m[v] = local
		}
		return m
	}
	of := func(path, value string) [][2]string { return [][2]string{{path, value}} }
	key := func(kind string) [][2]string {
		return [][2]string{{env + ".value", "null"}, {env + ".valueFrom", "{" + kind + ": {name: a, key: k}}"}}
	}
	var cases []fieldCase
	for _, kind := range []string{"configMapKeyRef", "secretKeyRef"} {
		at := env + ".valueFrom." + kind
		cases = append(cases,
			fieldCase{path: at + ".name", with: key(kind), differs: named("b", "a.b"), invalid: []string{`""`, "null", "7"}},
			fieldCase{path: at + ".key", with: key(kind), differs: named("b", ".b", "A_b-c"), invalid: []string{`""`, "null", "7", "a/b", "..", "..a"}},
			fieldCase{path: at + ".optional", with: key(kind), differs: named("true", "false", "null"), invalid: []string{"1"}},
		)
	}
	cases = append(cases,
		fieldCase{path: "spec.imagePullSecrets", valid: []string{"[]", "null"}, differs: named("[{name: a}]"), invalid: []string{"{}", "[a]"}},
		fieldCase{path: "spec.imagePullSecrets[0].name", with: of("spec.imagePullSecrets", "[{name: a}]"), differs: named("b"), invalid: []string{"7"}},
		fieldCase{path: from, valid: []string{"[]", "null"}, invalid: []string{"{}", "[{}]", "[{configMapRef: {name: a}, secretRef: {name: b}}]"}},
		fieldCase{path: from + "[0].prefix", with: of(from, "[{configMapRef: {name: a}}]"), differs: named("A_", `""`, "null", "a-b"), invalid: []string{"a=b", "7"}},
	)
	for _, kind := range []string{"configMapRef", "secretRef"} {
		with := of(from, "[{"+kind+": {name: a}}]")
		cases = append(cases,
			fieldCase{path: from + "[0]." + kind + ".name", with: with, differs: named("b", "a.b"), invalid: []string{`""`, "null", "7"}},
			fieldCase{path: from + "[0]." + kind + ".optional", with: with, differs: named("true", "null"), invalid: []string{"1"}},
		)
	}
	modes := func(path string, with [][2]string) fieldCase {
		return fieldCase{path: path, with: with, differs: named("0", "511", "null"), invalid: []string{"512", "-1", "a", "7.5"}}
	}
	items := func(path string, with [][2]string) []fieldCase {
		return []fieldCase{
			{path: path + "[0].key", with: with, differs: named("b"), invalid: []string{`""`, "null", "7"}},
			{path: path + "[0].path", with: with, differs: named("b", "b/c", ".b", "b/..c"), invalid: []string{`""`, "null", "/b", "../b", "b/../c", "..data", "7"}},
			modes(path+"[0].mode", with),
		}
	}
	for kind, name := range map[string]string{"configMap": "name", "secret": "secretName"} {
		with := of(volume+"."+kind, "{"+name+": a, items: [{key: k, path: p}]}")
		cases = append(cases,
			fieldCase{path: volume + "." + kind + "." + name, with: with, differs: named("b", "a.b"), invalid: []string{`""`, "null", "7"}},
			fieldCase{path: volume + "." + kind + ".optional", with: with, differs: named("true", "null"), invalid: []string{"1"}},
			modes(volume+"."+kind+".defaultMode", with),
		)
		cases = append(cases, items(volume+"."+kind+".items", with)...)
		with = of(projected, "{sources: [{"+kind+": {name: a, items: [{key: k, path: p}]}}]}")
		cases = append(cases,
			fieldCase{path: source + "." + kind + ".name", with: with, differs: named("b", "a.b"), invalid: []string{`""`, "null", "7"}},
			fieldCase{path: source + "." + kind + ".optional", with: with, differs: named("true", "null"), invalid: []string{"1"}},
		)
		cases = append(cases, items(source+"."+kind+".items", with)...)
	}
	plainModes := func(path string, with [][2]string) fieldCase {
		return fieldCase{path: path, with: with, valid: []string{"0", "511", "null"}, invalid: []string{"512", "-1", "a", "7.5"}}
	}
	for path, open := range map[string]string{volume + ".downwardAPI": "{", source + ".downwardAPI": "{sources: [{downwardAPI: {"} {
		closed := map[string]string{"{": "}", "{sources: [{downwardAPI: {": "}}]}"}[open]
		root := map[string]string{"{": volume + ".downwardAPI", "{sources: [{downwardAPI: {": projected}[open]
		field := of(root, open+"items: [{path: p, fieldRef: {fieldPath: metadata.name}}]"+closed)
		resource := of(root, open+"items: [{path: p, resourceFieldRef: {containerName: web, resource: limits.cpu}}]"+closed)
		at := path + ".items[0]"
		cases = append(cases,
			fieldCase{path: path + ".items", with: field, valid: []string{"[]", "null"}, invalid: []string{"{}", "[{path: p}]", "[{path: p, fieldRef: {fieldPath: metadata.name}, resourceFieldRef: {containerName: web, resource: limits.cpu}}]"}},
			fieldCase{path: at + ".path", with: field, valid: []string{"b", "b/c", ".b"}, invalid: []string{`""`, "null", "/b", "../b", "b/../c", "..data", "7"}},
			plainModes(at+".mode", field),
			fieldCase{
				path: at + ".fieldRef.fieldPath", with: field,
				valid:   []string{"metadata.uid", "metadata.namespace", "metadata.labels", "metadata.annotations", "\"metadata.labels['a']\"", "\"metadata.annotations['a/b']\""},
				invalid: []string{"a", `""`, "null", "\"metadata.labels['a b']\"", "status.podIP", "spec.nodeName"},
			},
			fieldCase{path: at + ".fieldRef.apiVersion", with: field, valid: []string{"v1", `""`, "null"}, invalid: []string{"v2", "7"}},
			fieldCase{path: at + ".resourceFieldRef.containerName", with: resource, valid: []string{"sidecar", "none"}, invalid: []string{`""`, "null", "7"}},
			fieldCase{path: at + ".resourceFieldRef.resource", with: resource, valid: []string{"requests.memory", "limits.ephemeral-storage"}, invalid: []string{"cpu", "limits.gpu", `""`, "null"}},
			fieldCase{path: at + ".resourceFieldRef.divisor", with: resource, valid: []string{"1m", "1", "0"}, invalid: []string{"1k", "2", "-1", "a"}},
		)
	}
	return append(cases,
		plainModes(volume+".downwardAPI.defaultMode", of(volume+".downwardAPI", "{items: []}")),
		plainModes(projected+".defaultMode", of(projected, "{sources: []}")),
		fieldCase{path: projected, valid: []string{"{sources: []}", "{sources: [{downwardAPI: {items: []}}]}"}, invalid: []string{
			"[]", "{sources: [{}]}", "{sources: [{secret: {name: a}, configMap: {name: b}}]}",
			"{sources: [{downwardAPI: {items: [{path: p, fieldRef: {fieldPath: metadata.name}}]}}, {downwardAPI: {items: [{path: p, fieldRef: {fieldPath: metadata.uid}}]}}]}",
		}},
		fieldCase{path: volume, valid: []string{"{name: x}"}, invalid: []string{"{name: x, secret: {secretName: a}, configMap: {name: b}}", "{name: x, emptyDir: {}, downwardAPI: {items: []}}"}},
	)
}()
