package spec

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/mutate"
	"github.com/wardlet/wardlet/core/strict"
)

// minimal is the shortest valid document; further keys begin at line 6.
var minimal = fmt.Sprintf("api = \"wardlet.dev/v1\"\nname = \"p\"\nmodule = \"p.wasm\"\nsha256 = \"%064x\"\nhooks = [\"admit\"]\n", 0)

func parse(text string, allowUnpinned bool) (*Document, error) {
	return Parse("p.toml", "DIR/p.toml", []byte(text), allowUnpinned)
}

func TestADocumentThatSaysTheLeastHasTheDefaults(t *testing.T) {
	t.Parallel()
	d, err := parse(minimal, false)
	policytest.Must(t, err)
	want := Keys{
		API: "wardlet.dev/v1", Name: "p", Module: "p.wasm", SHA256: strings.Repeat("0", 64), Hooks: []string{"admit"},
		Mode: "enforce", Priority: 100, OnError: api.Hold, OnChange: "ignore", Shadow: Threshold{MinDecisions: 100, MinTime: 10 * time.Minute},
		Limits: Limits{MemoryPages: 64, Fuel: 10_000_000, OutputBytes: 65536, MaxSuppress: time.Hour},
	}
	if diff := cmp.Diff(want, d.Keys, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(Match{})); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

func TestADocumentMaySay(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty lists where only those are supported": minimal + "mutable_paths = []\ncapabilities = []\n[match]\nconditions = []\n",
		"paths that may change":                      minimal + "mutable_paths = [\"/spec/containers/*/image\", \"/metadata/labels\"]\n",
		"everything of a match":                      minimal + "[match]\nsources = [\"file\", \"http\", \"api\"]\nnamespaces = [\"tenant-a-*\", \"web\"]\nlabel_selector = \"tier in (web,api)\"\noperations = [\"ADD\", \"UPDATE\"]\n",
		"that matches are of nothing in particular":  minimal + "[match]\nsources = []\nnamespaces = []\nlabel_selector = \"\"\noperations = []\n",
		"the least limits":                           minimal + "[limits]\nmemory_pages = 1\nfuel = 1000\noutput_bytes = 1024\n",
		"the greatest limits":                        minimal + "[limits]\nmemory_pages = 1024\nfuel = 1_000_000_000\noutput_bytes = 1_048_576\n",
		"the ends of the priorities":                 minimal + "priority = 0\n",
		"mode off":                                   minimal + "mode = \"off\"\non_error = \"deny\"\n",
		"a module below its directory":               strings.Replace(minimal, "p.wasm", "modules/v1/p.wasm", 1),
		"a digest in capitals":                       strings.Replace(minimal, strings.Repeat("0", 64), strings.Repeat("AB", 32), 1),
		"tests of every answer":                      minimal + "[[test]]\npod = \"a.yaml\"\nexpect = \"allow\"\n[[test]]\npod = \"tests/a.yaml\"\nexpect = \"deny\"\n[[test]]\npod = \"a.yaml\"\nexpect = \"hold\"\n[[test]]\npod = \"a.yaml\"\nexpect = \"abstain\"\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := parse(text, false)
			policytest.Must(t, err)
			if d.SHA256 != strings.ToLower(d.SHA256) {
				t.Errorf("digest %s, want it in small letters", d.SHA256)
			}
		})
	}
}

func TestADocumentIsRefusedFor(t *testing.T) {
	t.Parallel()
	line := func(old, text string) string { return strings.Replace(minimal, old, text, 1) }
	zeros := "\"" + strings.Repeat("0", 64) + "\""
	for name, test := range map[string]struct{ text, want string }{
		"no TOML":                        {"api = \n", "1: expected value but found '\\n' instead"},
		"another version, and only that": {"api = \"wardlet.dev/v2\"\nnome = 1\n", `1: api: "wardlet.dev/v2" is not supported in this version; want "wardlet.dev/v1"`},
		"a version that is none":         {"name = \"p\"\napi = 1\n", `2: api: "1" is not supported in this version; want "wardlet.dev/v1"`},
		"being no policy":                {"[paths]\nstate_root = \"/x\"\n", `api: missing; a policy begins with api = "wardlet.dev/v1", and other TOML files do not belong into this directory`},
		"being empty":                    {"", `api: missing; a policy begins with api = "wardlet.dev/v1"`},
		"an unknown key":                 {minimal + "prioritiy = 3\n", `6: prioritiy: unknown key; did you mean "priority"?`},
		"an unknown key of a table":      {minimal + "[match]\nnamespace = [\"a\"]\n", `7: match.namespace: unknown key; did you mean "namespaces"?`},
		"no name":                        {line("name = \"p\"\n", ""), `name: missing; it names the policy in verdicts, for example name = "allowed-images"`},
		"a name that is no DNS label":    {line("\"p\"", "\"A_b\""), `2: name: "A_b" is no DNS label: `},
		"no module":                      {line("module = \"p.wasm\"\n", ""), "module: missing; name a file relative to this document"},
		"an absolute module":             {line("p.wasm", "/p.wasm"), `3: module: want a plain path below the directory of this document, found "/p.wasm"`},
		"a module above":                 {line("p.wasm", "../p.wasm"), `3: module: want a plain path below`},
		"a module above, on a detour":    {line("p.wasm", "a/../../p.wasm"), `3: module: want a plain path below`},
		"a path that is not plain":       {line("p.wasm", "./p.wasm"), `3: module: want a plain path below`},
		"the directory for a module":     {line("p.wasm", "."), `3: module: want a plain path below`},
		"no digest":                      {line("sha256 = "+zeros+"\n", ""), "sha256: missing; write what sha256sum says of the module, or set policy.allow_unpinned in agent.toml for development"},
		"a digest that is too short":     {line(zeros, "\"00\""), `4: sha256: want 64 hexadecimal digits, found "00"`},
		"a digest that is none":          {line(zeros, "\""+strings.Repeat("g", 64)+"\""), `4: sha256: want 64 hexadecimal digits, found "ggg`},
		"no hooks":                       {line("hooks = [\"admit\"]\n", ""), `hooks: missing; want ["admit"]`},
		"hooks that are none":            {line("[\"admit\"]", "[]"), `5: hooks: missing; want ["admit"]`},

		"an unknown hook":             {line("[\"admit\"]", "[\"admin\"]"), `5: hooks: want "admit", "merge", "filter" or "connect", found "admin"`},
		"a hook that stands twice":    {line("[\"admit\"]", "[\"admit\", \"admit\"]"), `5: hooks: "admit" stands twice`},
		"a threshold of another mode": {minimal + "[shadow]\nmin_decisions = 3\n", `6: shadow: it counts in mode "shadow" only; leave it out`},
		"too great a difference":      {minimal + "mode = \"shadow\"\nshadow.max_difference = 1.5\n", `7: shadow.max_difference: want 0 to 1, found 1.5`},
		"too few decisions":           {minimal + "mode = \"shadow\"\nshadow.min_decisions = 0\n", `7: shadow.min_decisions: want 1 to 1000000, found 0`},
		"a time before the beginning": {minimal + "mode = \"shadow\"\nshadow.min_time = \"-1s\"\n", `7: shadow.min_time: want a duration of 0 or more, found -1s`},
		"no number of differences":    {minimal + "mode = \"shadow\"\nshadow.max_difference = nan\n", `7: shadow.max_difference: want 0 to 1, found NaN`},
		"an exception without anything": {
			minimal + "[[exception]]\n",
			"6: exception.pods: missing; name the pods, for example pods = [\"shop/web-*\"]\n" +
				"DIR/p.toml:6: exception.owner: missing; name who answers for the exception\n" +
				"DIR/p.toml:6: exception.expires: missing; want a date such as \"2026-12-31\", at whose end in UTC the exception ends, or a time with its zone such as \"2026-12-31T18:00:00+01:00\"",
		},
		"an exception for pods that cannot be": {
			minimal + "[[exception]]\npods = [\"a/b\", \"web\"]\nowner = \"ops\"\nexpires = \"2026-12-31\"\n",
			`7: exception.pods: want NAMESPACE/NAME, for example "shop/web-*", found "web"`,
		},
		"an exception until no time": {
			minimal + "[[exception]]\npods = [\"a/b\"]\nowner = \"ops\"\nexpires = \"next year\"\n", `9: exception.expires: want a date such as`,
		},
		"an exception until a time without a zone": {
			minimal + "[[exception]]\npods = [\"a/b\"]\nowner = \"ops\"\nexpires = 2026-12-31T18:00:00\n", `9: exception.expires: want a date such as`,
		},
		"an unknown mode":        {minimal + "mode = \"on\"\n", `6: mode: want "enforce", "warn", "audit", "shadow", "member" or "off", found "on"`},
		"a negative priority":    {minimal + "priority = -1\n", "6: priority: want 0 to 1000, found -1"},
		"a priority over 1000":   {minimal + "priority = 1001\n", "6: priority: want 0 to 1000, found 1001"},
		"on_error that abstains": {minimal + "on_error = \"abstain\"\n", `6: on_error: want "hold", "deny", "allow" or "last_verdict", found "abstain"`},
		"on_change unknown":      {minimal + "on_change = \"kill\"\n", `6: on_change: want "ignore", "report" or "evict", found "kill"`},
		"on_change of a filter":  {strings.Replace(minimal, `"admit"`, `"filter"`, 1) + "on_change = \"evict\"\n", `6: on_change: only a policy with the hook admit or merge has a say in pods that run; leave it out, or add one`},
		"on_change of updates":   {minimal + "on_change = \"report\"\n[match]\noperations = [\"UPDATE\"]\n", `6: on_change: pods that run are judged as if they came now, and match.operations leaves ADD out; leave on_change out, or add that`},
		"a mutable path that is no pointer": {
			minimal + "mutable_paths = [\"/metadata/labels\",\n\"spec\"]\n", `7: mutable_paths: "spec": `,
		},
		"a mutable path to what no policy may change": {
			minimal + "mutable_paths = [\"/metadata/name\"]\n", `6: mutable_paths: "/metadata/name": no policy may change this: it is the pod's identity; leave it out`,
		},
		"a mutable path to what pods do not have": {
			minimal + "mutable_paths = [\"/spec/containers/*/imgae\"]\n", `6: mutable_paths: "/spec/containers/*/imgae": pods have no "imgae"`,
		},
		"a mutable path that stands twice": {
			minimal + "mutable_paths = [\"/spec\", \"/spec\"]\n", `6: mutable_paths: "/spec" stands twice`,
		},
		"very many mutable paths": {
			minimal + "mutable_paths = [" + strings.Repeat("\"/spec\",", 65) + "]\n", "6: mutable_paths: 65 paths, more than the 64 a policy may have",
		},
		"mutable paths of a policy that is not asked whether a pod may run": {
			strings.Replace(minimal, `"admit"`, `"filter"`, 1) + "mutable_paths = [\"/spec\"]\n",
			"6: mutable_paths: only a policy with the hook admit or merge changes pods; leave it out, or add one of them",
		},
		"an unknown capability":           {minimal + "capabilities = [\"node.write\"]\n", `6: capabilities: want "node.read" or "references.read", found "node.write"`},
		"a capability that stands twice":  {minimal + "capabilities = [\"node.read\", \"node.read\"]\n", `6: capabilities: "node.read" stands twice`},
		"an unknown kind of source":       {minimal + "[match]\nsources = [\"file\", \"disk\"]\n", `7: match.sources: want "file", "http" or "api", found "disk"`},
		"a namespace that cannot be":      {minimal + "[match]\nnamespaces = [\n\"a\",\n\"tenant_a\"]\n", `9: match.namespaces: want a namespace such as "web", or a pattern such as "tenant-a-*", found "tenant_a"`},
		"an empty namespace":              {minimal + "[match]\nnamespaces = [\"\"]\n", `7: match.namespaces: want a namespace`},
		"a selector that is none":         {minimal + "[match]\nlabel_selector = \"a in b\"\n", `7: match.label_selector: "a in b" is no label selector: `},
		"an operation that is not judged": {minimal + "[match]\noperations = [\"DELETE\"]\n", `7: match.operations: want "ADD", "UPDATE", "RECONCILE" or "CONNECT", found "DELETE"`},
		"a hook that would never be asked": {
			strings.Replace(minimal, "\"admit\"", "\"admit\", \"connect\"", 1) + "[match]\noperations = [\"ADD\"]\n",
			`7: match.operations: the operation of the hook connect is "CONNECT", which is missing`,
		},
		"a connection of another hook": {
			minimal + "[[test]]\npod = \"a.yaml\"\nexpect = \"allow\"\n[test.connection]\nuser = \"alice\"\n",
			`9: test.connection: a connection is for the hook connect`,
		},
		"references of nothing": {
			minimal + "[[test]]\npod = \"a.yaml\"\nexpect = \"allow\"\n[[test.references]]\nkind = \"Service\"\n",
			"9: test.references.name: missing; name an object that the pod names\n" +
				"DIR/p.toml:9: test.references.digest: missing; leave the reference out for an object that is not there\n" +
				`DIR/p.toml:10: test.references.kind: want "ConfigMap" or "Secret", found "Service"`,
		},
		"a connection of no kind": {
			strings.Replace(minimal, "\"admit\"", "\"connect\"", 1) + "[[test]]\npod = \"a.yaml\"\nexpect = \"allow\"\n[test.connection]\nkind = \"ssh\"\n",
			`10: test.connection.kind: want "exec", "attach" or "portforward", found "ssh"`,
		},
		"a connection that waits": {
			strings.Replace(minimal, "\"admit\"", "\"connect\"", 1) + "[[test]]\npod = \"a.yaml\"\nexpect = \"hold\"\n",
			`8: test.expect: want "allow", "deny" or "abstain", found "hold"`,
		},
		"a condition that is none": {
			minimal + "[match]\nconditions = [\"true\",\n\"object.spec.hostNetwrok\"]\n", `8: match.conditions: `,
		},
		"a condition that gives no bool": {minimal + "[match]\nconditions = [\"1\"]\n", `7: match.conditions: `},
		"very many conditions": {
			minimal + "[match]\nconditions = [" + strings.Repeat("\"true\",", 33) + "]\n", "7: match.conditions: 33 conditions, more than the 32 a policy may have",
		},
		"no memory":                {minimal + "[limits]\nmemory_pages = 0\n", "7: limits.memory_pages: want 1 to 1024, found 0"},
		"too much memory":          {minimal + "[limits]\nmemory_pages = 1025\n", "7: limits.memory_pages: want 1 to 1024, found 1025"},
		"too little output":        {minimal + "[limits]\noutput_bytes = 1023\n", "7: limits.output_bytes: want 1024 to 1048576, found 1023"},
		"too much output":          {minimal + "[limits]\noutput_bytes = 1048577\n", "7: limits.output_bytes: want 1024 to 1048576, found 1048577"},
		"no fuel":                  {minimal + "[limits]\nfuel = 999\n", "7: limits.fuel: want 1000 to 1000000000, found 999"},
		"too much fuel":            {minimal + "[limits]\nfuel = 1_000_000_001\n", "7: limits.fuel: want 1000 to 1000000000, found 1000000001"},
		"nothing to hold back for": {minimal + "[limits]\nmax_suppress = \"0s\"\n", "7: limits.max_suppress: want a duration above 0, found 0s"},
		"a test of another hook": {
			minimal + "[[test]]\nhook = \"filter\"\npod = \"a.yaml\"\nexpect = \"pass\"\n", `7: test.hook: want "admit", found "filter"`,
		},
		"a test of a merge with one candidate": {
			line("\"admit\"", "\"merge\"") + "[[test]]\npod = \"a.yaml\"\nexpect = \"b.yaml\"\n[[test.candidate]]\npod = \"a.yaml\"\nkind = \"disk\"\n",
			"6: test: a test of the hook merge has candidates instead of a pod\n" +
				"DIR/p.toml:6: test: want 2 to 16 candidates ([[test.candidate]]), found 1\n" +
				`DIR/p.toml:8: test.expect: want "keep", "reject", "abstain" or "a.yaml", found "b.yaml"` + "\n" +
				"DIR/p.toml:9: test.candidate.source: missing; name the source of the document\n" +
				`DIR/p.toml:11: test.candidate.kind: want "file", "http" or "api", found "disk"`,
		},
		"a test with candidates that is none of a merge": {
			minimal + "[[test]]\npod = \"a.yaml\"\nexpect = \"deny\"\n[[test.candidate]]\npod = \"a.yaml\"\n", "9: test.candidate: candidates are for the hook merge",
		},
		"a test at no time": {
			minimal + "[[test]]\npod = \"a.yaml\"\nexpect = \"deny\"\ntime = \"noon\"\n", `9: test.time: want a time such as "2026-01-31T18:00:00Z", found "noon"`,
		},
		"a test without a pod":            {minimal + "[[test]]\nexpect = \"deny\"\n", "6: test.pod: missing; name a file relative to this document"},
		"a test of a pod elsewhere":       {minimal + "[[test]]\npod = \"/etc/x\"\nexpect = \"deny\"\n", "7: test.pod: want a plain path below"},
		"a test that expects nothing":     {minimal + "[[test]]\npod = \"a.yaml\"\n", `6: test.expect: missing; want "allow", "deny", "hold" or "abstain"`},
		"a test that expects the unknown": {minimal + "[[test]]\npod = \"a.yaml\"\nexpect = \"no\"\n", `8: test.expect: want "allow", "deny", "hold" or "abstain", found "no"`},
		"more tests than a set has time for": {
			minimal + strings.Repeat("[[test]]\npod = \"a.yaml\"\nexpect = \"deny\"\n", 101), "6: test: 101 tests, more than the 100 a policy may have",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parse(test.text, false)
			if err == nil {
				t.Fatal("it is accepted")
			}
			got, ok := strings.CutPrefix(err.Error(), "DIR/p.toml:")
			if got = strings.TrimPrefix(got, " "); !ok || !strings.HasPrefix(got, test.want) {
				t.Errorf("error:\n%v\nwant:\nDIR/p.toml:%s", err, test.want)
			}
			if name == "another version, and only that" && strings.Contains(err.Error(), "\n") {
				t.Errorf("other faults are told too:\n%v", err)
			}
		})
	}
}

func TestADigestMayBeLeftOutWhereTheConfigurationAllowsIt(t *testing.T) {
	t.Parallel()
	text := strings.Replace(minimal, "sha256", "#sha256", 1)
	if _, err := parse(text, true); err != nil {
		t.Error(err)
	}
	wrong := strings.Replace(minimal, "\"000", "\"00", 1)
	if _, err := parse(wrong, true); err == nil {
		t.Error("a digest that is none is accepted because none is needed")
	}
}

func TestComplaintsAreOfTheLineOfTheirKey(t *testing.T) {
	t.Parallel()
	d, err := parse(minimal+"[[test]]\npod = \"a.yaml\"\nexpect = \"deny\"\n", false)
	policytest.Must(t, err)
	if err := d.Err(); err != nil {
		t.Errorf("error %v before any complaint", err)
	}
	d.Complain("test[0].expect", "got %s", "allow\nand\x1b[31m more")
	d.Complain("module", "cannot be loaded: %v", errors.New(strings.Repeat("x", 3000)))
	want := "DIR/p.toml:3: module: cannot be loaded: " + strings.Repeat("x", MaxMessage-len("cannot be loaded: ")) + "…\n" +
		"DIR/p.toml:8: test.expect: got allow; and\\x1b[31m more"
	if got := d.Err().Error(); got != want {
		t.Errorf("error:\n%s\nwant:\n%s", got, want)
	}
}

func FuzzParseDocument(f *testing.F) {
	f.Add(minimal)
	f.Add(minimal + "priority = 7\nmode = \"off\"\n[match]\nnamespaces = [\"a-*\"]\nlabel_selector = \"a!=b\"\noperations = [\"UPDATE\"]\n[limits]\nfuel = 1\n")
	f.Add(minimal + "[settings]\nallow = [\"*\"]\nat = 1979-05-27T07:32:00\n[[settings.rule]]\nx = {y = 1.5}\n[[test]]\npod = \"t/a.yaml\"\nexpect = \"hold\"\n")
	f.Add("api = \"wardlet.dev/v2\"\n")
	f.Add("[a]\nb = 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := parse(text, false)
		if err != nil {
			faults, ok := errors.AsType[strict.Errors](err)
			if !ok || len(faults) == 0 {
				t.Fatalf("error %v is no list of faults", err)
			}
			for _, fault := range faults {
				if fault.File != "DIR/p.toml" || fault.Message == "" {
					t.Fatalf("fault %+v", fault)
				}
			}
			return
		}
		paths := []string{d.Module}
		for _, test := range d.Tests {
			paths = append(paths, test.Pod)
		}
		for _, path := range paths {
			if !filepath.IsLocal(path) || filepath.Join("/dir", path) == "/dir" {
				t.Fatalf("the path %q leaves the directory", path)
			}
		}
		if len(d.SHA256) != 64 || d.Name == "" || len(d.Hooks) == 0 || d.Priority < 0 || d.Priority > maxPriority ||
			d.Limits.MemoryPages < 1 || d.Limits.MemoryPages > maxMemoryPages ||
			d.Limits.Fuel < minFuel || d.Limits.Fuel > maxFuel ||
			!slices.Contains([]string{ModeEnforce, ModeWarn, ModeAudit, ModeOff}, d.Mode) ||
			slices.ContainsFunc(d.MutablePaths, func(path string) bool { return mutate.CheckPath(path) != nil }) {
			t.Fatalf("accepted: %+v", d.Keys)
		}
		checkPlain(t, d.Settings)
		d.Complain("name", "again")
		if err := d.Err(); err == nil || !strings.HasPrefix(err.Error(), "DIR/p.toml:") || !strings.Contains(err.Error(), ": name: again") {
			t.Fatalf("a complaint became %v", err)
		}
	})
}
