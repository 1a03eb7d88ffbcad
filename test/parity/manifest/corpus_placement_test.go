package manifest

const (
	required  = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
	preferred = "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution"
)

var placementCases = []fieldCase{
	{
		path: "spec.nodeSelector", valid: []string{"{}", "null", "{a: b}", "{a: ''}", "{example.com/a: b}", "{a: null}"},
		invalid: []string{"[]", "{a: b/c}", "{a/b/c: d}", "{a: 1}", "{'': a}", "{a: " + long(64) + "}"},
	},
	{path: "spec.affinity", valid: []string{"{}", "null", "{nodeAffinity: {}}", "{nodeAffinity: null}"}, invalid: []string{"[]", "7"}},
	{path: required, valid: []string{"null", "{nodeSelectorTerms: [{}]}", "{nodeSelectorTerms: [{}, {matchFields: []}]}"}, invalid: []string{"{}", "{nodeSelectorTerms: []}", "{nodeSelectorTerms: null}", "[]"}},
	{path: required + ".nodeSelectorTerms[0].matchExpressions", valid: []string{"[]", "null"}, invalid: []string{"[{}]", "[null]", "{}", "[a]"}},
	{
		path: required + ".nodeSelectorTerms[0].matchExpressions[0].key", valid: []string{"a", "example.com/a", "'0'"}, invalid: []string{`""`, "null", "a b", "a/b/c", long(64), "7"},
	},
	{
		path: required + ".nodeSelectorTerms[0].matchExpressions[0].operator", valid: []string{"In", "NotIn", "Gt", "Lt"},
		invalid: []string{`""`, "null", "Exists", "DoesNotExist", "in", "Like", "7"},
	},
	{
		path: required + ".nodeSelectorTerms[0].matchExpressions[0].values", valid: []string{"[a]", "[a, b]", "['']", "[a, a]"},
		invalid: []string{"[]", "null", "[b/c]", "[" + long(64) + "]", "[7]", "a"},
	},
	{
		path: required + ".nodeSelectorTerms[0].matchExpressions[1].operator", valid: []string{"Exists", "DoesNotExist"}, invalid: []string{"In", "NotIn", "Gt", "Lt"},
	},
	{
		path: required + ".nodeSelectorTerms[0].matchExpressions[1].values", valid: []string{"[]", "null"}, invalid: []string{"[a]", "['']"},
	},
	{
		path: required + ".nodeSelectorTerms[0].matchExpressions[0].values", with: [][2]string{{required + ".nodeSelectorTerms[0].matchExpressions[0].operator", "Lt"}},
		valid: []string{"['3']", "[a]"}, invalid: []string{"[]", "['3', '4']", "null"},
	},
	{path: required + ".nodeSelectorTerms[0].matchFields", valid: []string{"[]", "null"}, invalid: []string{"[{}]", "{}"}},
	{path: required + ".nodeSelectorTerms[0].matchFields[0].key", valid: []string{"metadata.name"}, invalid: []string{`""`, "metadata.namespace", "a", "7"}},
	{path: required + ".nodeSelectorTerms[0].matchFields[0].operator", valid: []string{"In", "NotIn"}, invalid: []string{"Exists", "Gt", `""`, "null"}},
	{
		path: required + ".nodeSelectorTerms[0].matchFields[0].values", valid: []string{"[a]", "[a.b]"},
		invalid: []string{"[]", "null", "[a, b]", "[A]", "['']", "[" + long(254) + "]"},
	},
	{path: preferred, valid: []string{"[]", "null", "[{weight: 1, preference: {}}]"}, invalid: []string{"[{}]", "{}", "[null]"}},
	{path: preferred + "[0].weight", valid: []string{"1", "100"}, invalid: []string{"0", "101", "-1", "null", "1.5", `"1"`}},
	{path: preferred + "[0].preference", valid: []string{"{}", "null"}, invalid: []string{"[]", "7"}},
	{path: preferred + "[0].preference.matchExpressions[0].values", valid: []string{"['b/c']", "[" + long(64) + "]"}, invalid: []string{"[]", "[a, b]"}},
	{path: preferred + "[0].preference.matchExpressions[0].operator", valid: []string{"Lt", "In"}, invalid: []string{"Exists", "Like"}},
	{path: preferred + "[0].preference.matchExpressions[0].key", valid: []string{"a"}, invalid: []string{`""`, "a b"}},
	{path: preferred + "[0].preference.matchFields[0].key", valid: []string{"metadata.name"}, invalid: []string{"metadata.uid", `""`}},
	{path: preferred + "[0].preference.matchFields[0].operator", valid: []string{"NotIn"}, invalid: []string{"Exists", "null"}},
	{path: preferred + "[0].preference.matchFields[0].values", valid: []string{"[a]"}, invalid: []string{"[a, b]", "[A]"}},
	{
		path: "spec.tolerations",
		valid: []string{
			"[]", "null", "[{operator: Exists}]", "[{operator: Exists, effect: NoExecute}]", "[{operator: Exists, effect: NoExecute, tolerationSeconds: 5}]",
			"[{operator: Exists, effect: NoExecute, tolerationSeconds: 5}, {key: a}, {operator: Exists, effect: NoExecute}]", "[{key: a}]", "[{key: a}, {key: a}]",
			"[{key: '', operator: Exists, value: ''}]", "[{key: a, operator: null}]",
		},
		invalid: []string{"[{}]", "[null]", "{}", "[a]", "[{operator: Equal}]", "[{value: a}]", "[{key: a b, operator: Exists}]"},
	},
	{path: "spec.tolerations[0].key", valid: []string{"a", "example.com/a"}, invalid: []string{`""`, "null", "a b", "7"}},
	{path: "spec.tolerations[0].operator", valid: []string{"Equal", `""`, "null"}, invalid: []string{"Exists", "Lt", "Gt", "equal", "7"}},
	{path: "spec.tolerations[0].value", valid: []string{"a", `""`, "null", `"1"`}, invalid: []string{"a b", "b/c", long(64), "7"}},
	{path: "spec.tolerations[0].effect", valid: []string{"NoSchedule", "PreferNoSchedule", "NoExecute", `""`, "null"}, invalid: []string{"noexecute", "Never", "7"}},
	{path: "spec.tolerations[1].effect", valid: []string{"NoExecute"}, invalid: []string{"NoSchedule", `""`, "null"}},
	{path: "spec.tolerations[1].tolerationSeconds", valid: []string{"0", "-1", "null", "9223372036854775807"}, invalid: []string{"1.5", `"5"`}},
}

var securityCases = []fieldCase{
	{
		path: "spec.securityContext.sysctls",
		valid: []string{
			"[]", "null", "[{name: a}]", "[{name: a, value: b}]", "[{name: a.b-c_d/e, value: ''}]", "[{name: kernel/shm_rmid_forced, value: '1'}]", "[{name: " + long(253) + "}]",
			"[{name: net.core.somaxconn, value: '1'}, {name: net/core/somaxconn, value: '1'}]", "[{name: vm.swappiness, value: '1'}]",
		},
		invalid: []string{
			"[{}]", "[null]", "{}", "[{value: a}]", "[{name: ''}]", "[{name: A}]", "[{name: a..b}]", "[{name: a.}]", "[{name: -a}]", "[{name: a b}]", "[{name: " + long(254) + "}]",
			"[{name: a, value: 1}]", "[{name: a}, {name: a}]", "[{name: net.*}]",
		},
	},
	{
		path: "spec.securityContext.sysctls", valid: []string{"[{name: kernel.msgmax}]", "[{name: a}]", "[{name: net}]"},
		invalid: []string{"[{name: net.core.somaxconn}]", "[{name: net/core/somaxconn}]", "[{name: a}, {name: net.a}]"},
		with:    [][2]string{{"spec.hostNetwork", "true"}, {"spec.containers[0].ports", "null"}},
	},
	{path: "spec.securityContext.sysctls[0].name", valid: []string{"kernel.sem", "a"}, invalid: []string{`""`, "null", "A", "7"}},
	{path: "spec.securityContext.sysctls[0].value", valid: []string{"a", `""`, "null", "'1 2 3'"}, invalid: []string{"1", "true", "[a]"}},
	{path: "spec.securityContext.appArmorProfile.type", valid: []string{"Localhost"}, invalid: []string{"RuntimeDefault", "Unconfined", `""`, "null", "Mine"}},
	{path: "spec.securityContext.appArmorProfile.localhostProfile", valid: []string{"a", "a b"}, invalid: []string{`""`, "null", "' a'", "7"}},
	{path: "spec.containers[0].securityContext.appArmorProfile.type", valid: []string{"RuntimeDefault", "Unconfined"}, invalid: []string{"Localhost", `""`, "null", "7"}},
	{
		path: "spec.containers[0].securityContext.appArmorProfile.localhostProfile", valid: []string{"a"}, invalid: []string{`""`, "null", "'a '"},
		with: [][2]string{{"spec.containers[0].securityContext.appArmorProfile.type", "Localhost"}},
	},
	{
		path: "spec.securityContext.appArmorProfile",
		valid: []string{
			"null", "{type: RuntimeDefault}", "{type: Unconfined}", "{type: Localhost, localhostProfile: a}", "{type: Localhost, localhostProfile: a b}",
			"{type: Localhost, localhostProfile: " + long(4095) + "}", "{type: Unconfined, localhostProfile: null}",
		},
		invalid: []string{
			"{}", "{type: ''}", "{type: Localhost}", "{type: Localhost, localhostProfile: ''}", "{type: Localhost, localhostProfile: ' a'}", "{type: Localhost, localhostProfile: ' '}",
			"{type: Localhost, localhostProfile: " + long(4096) + "}", "{type: RuntimeDefault, localhostProfile: a}", "{type: Unconfined, localhostProfile: ''}",
			"{type: unconfined}", "{localhostProfile: a}", "[]", "RuntimeDefault", "{type: 7}",
		},
	},
	{
		path:    "spec.containers[0].securityContext.appArmorProfile",
		valid:   []string{"null", "{type: RuntimeDefault}", "{type: Unconfined}", "{type: Localhost, localhostProfile: a}"},
		invalid: []string{"{}", "{type: Localhost}", "{type: RuntimeDefault, localhostProfile: a}", "{type: Mine}"},
	},
}
