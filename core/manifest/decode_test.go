package manifest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// outline returns documents as "ID name" or "ID error".
func outline(docs []api.Document) []string {
	var lines []string
	for _, d := range docs {
		if d.Err != nil {
			lines = append(lines, strings.TrimPrefix(d.ID, "/m/")+" "+strings.TrimPrefix(d.Err.Error(), "/m/"))
		} else {
			lines = append(lines, strings.TrimPrefix(d.ID, "/m/")+" "+d.Pod.Namespace+"/"+d.Pod.Name)
		}
	}
	return lines
}

func named(name string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + "}\nspec: {containers: [{name: c, image: i}]}\n"
}

const held = "which pods the file holds is uncertain; those it held before go on until this is mended"

func TestDecodeDocuments(t *testing.T) {
	t.Parallel()
	item := func(name string) string {
		return "- apiVersion: v1\n  kind: Pod\n  metadata: {name: " + name + "}\n  spec: {containers: [{name: c, image: i}]}\n"
	}
	for _, tc := range []struct {
		rule, text string
		want       []string
	}{
		{"one pod", named("a"), []string{"web.yaml#0 default/a-node-1"}},
		{"several documents", named("a") + "---\n" + named("b"), []string{"web.yaml#0 default/a-node-1", "web.yaml#1 default/b-node-1"}},
		{
			"JSON is YAML", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}}`,
			[]string{"web.yaml#0 default/a-node-1"},
		},
		{
			"JSON may be indented with tabs", "{\n\t\"apiVersion\":\"v1\",\n\t\"kind\":\"Pod\",\n\t\"metadata\":{\"name\":\"a\"},\n\t\"spec\":{\n\t\t\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}",
			[]string{"web.yaml#0 default/a-node-1"},
		},
		{
			"a List gives one document per item", "apiVersion: v1\nkind: List\nmetadata: {resourceVersion: \"\"}\nitems:\n" + item("a") + item("b"),
			[]string{"web.yaml#0.0 default/a-node-1", "web.yaml#0.1 default/b-node-1"},
		},
		{
			"items of a PodList need no kind", "apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: a}\n  spec: {containers: [{name: c, image: i}]}\n",
			[]string{"web.yaml#0.0 default/a-node-1"},
		},
		{
			"a list moves no index after it", "apiVersion: v1\nkind: List\nitems:\n" + item("a") + item("b") + "---\n" + named("c"),
			[]string{"web.yaml#0.0 default/a-node-1", "web.yaml#0.1 default/b-node-1", "web.yaml#1 default/c-node-1"},
		},
		{
			"an item says its kind in a List, and the right one in a PodList",
			"apiVersion: v1\nkind: List\nitems:\n- metadata: {name: a}\n---\napiVersion: v1\nkind: PodList\nitems:\n- kind: Service\n  apiVersion: v1\n",
			[]string{
				"web.yaml#0.0 web.yaml:4: apiVersion is missing; a pod has apiVersion v1 and kind Pod",
				`web.yaml#1.0 web.yaml:9: kind "Service" is not a Pod; a node runs nothing else`,
				"web.yaml#* web.yaml:9: " + held,
			},
		},
		{"an empty list holds no pods", "apiVersion: v1\nkind: List\nitems: []\n", nil},
		{"comments alone hold no pods", "# nothing here\n---\n# nor here\n", nil},
		{
			"a bad item spoils no other", "apiVersion: v1\nkind: List\nitems:\n" + item("A") + item("b") + "- 7\n- apiVersion: v1\n  kind: List\n",
			[]string{
				`web.yaml#0.0 web.yaml:6: metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
				"web.yaml#0.1 default/b-node-1",
				"web.yaml#0.2 web.yaml:12: an item of a list must be a pod",
				"web.yaml#0.3 web.yaml:14: a list within a list is not supported",
				"web.yaml#* web.yaml:14: " + held,
			},
		},
		{
			"a document that does not parse holds the file, and spoils no other", named("a") + "---\na: [1\n---\n" + named("c"),
			[]string{
				"web.yaml#0 default/a-node-1", "web.yaml#1 web.yaml:6: did not find expected ',' or ']'",
				"web.yaml#2 default/c-node-1", "web.yaml#* web.yaml:6: " + held,
			},
		},
		{
			"a bad list holds the file: nobody knows its items", "apiVersion: v1\nkind: List\nitem: []\n",
			[]string{"web.yaml#0 web.yaml:3: item: unknown field of a list", "web.yaml#* web.yaml:3: " + held},
		},
		{
			"a lost separator holds the file", named("a") + named("b"),
			[]string{`web.yaml#0 web.yaml:5: duplicate key "apiVersion", first in line 1`, "web.yaml#* web.yaml:5: " + held},
		},
		{
			"a pod that is merely invalid holds nothing but itself", named("a") + "---\napiVersion: v1\nkind: Pod\nmetadata: {name: b}\n",
			[]string{"web.yaml#0 default/a-node-1", "web.yaml#1 web.yaml:6: spec.containers: Required value"},
		},
		{
			"a pod without a name holds the file: nobody knows which one it is", named("a") + "---\napiVersion: v1\nkind: Pod\nmetadata: {namme: b}\n",
			[]string{
				"web.yaml#0 default/a-node-1", "web.yaml#1 web.yaml:8: metadata.namme: unknown field; did you mean name?",
				"web.yaml#* web.yaml:8: " + held,
			},
		},
		{
			"a byte order mark alone holds the file", "\ufeff\n",
			[]string{"web.yaml#* web.yaml: the manifest is empty; remove it to end its pods"},
		},
		{
			"UTF-16 holds the file", "\xff\xfea\x00:\x00 \x001\x00\n\x00",
			[]string{"web.yaml#* web.yaml:1: the manifest is in UTF-16, little-endian; save it as UTF-8"},
		},
		{
			"UTF-32 without a mark does", "a\x00\x00\x00:\x00\x00\x00",
			[]string{"web.yaml#* web.yaml:1: the manifest is in UTF-32, little-endian; save it as UTF-8"},
		},
		{
			"each document may begin with a byte order mark", "\ufeff" + named("a") + "---\n\ufeff" + named("b") + "\ufeff---\n\ufeff# text\n" + named("c") + "...\n\ufeff---\n" + named("d") + "---\n\ufeff",
			[]string{"web.yaml#0 default/a-node-1", "web.yaml#1 default/b-node-1", "web.yaml#2 default/c-node-1", "web.yaml#3 default/d-node-1"},
		},
		{
			"an empty document with a directive is none", "%YAML 1.1\n---\n---\n" + named("a"),
			[]string{"web.yaml#1 default/a-node-1"},
		},
		{
			"a directive may follow the end of a document", "%YAML 1.1\n---\n" + named("a") + "...\n# text\n%YAML 1.1\n---\n" + named("b") + "...\n\ufeff%YAML 1.1\n---\n" + named("c"),
			[]string{"web.yaml#0 default/a-node-1", "web.yaml#1 default/b-node-1", "web.yaml#2 default/c-node-1"},
		},
		{
			"a comment may follow the end of a document", named("a") + "...\n# text\n---\n" + named("b"),
			[]string{"web.yaml#0 default/a-node-1", "web.yaml#1 default/b-node-1"},
		},
		{
			"directives belong to the document after them", "%YAML 1.1\n# text\n---\n" + named("a") + "---\n" + named("b"),
			[]string{"web.yaml#0 default/a-node-1", "web.yaml#1 default/b-node-1"},
		},
		{
			"a comment ends where YAML ends lines", "# text\u0085word\n---\n" + named("a"),
			[]string{
				"web.yaml#0 web.yaml:2: not an object; a manifest begins with apiVersion and kind",
				"web.yaml#1 default/a-node-1", "web.yaml#* web.yaml:2: " + held,
			},
		},
		{
			"an item of a PodList may say half of its kind, but no other",
			"apiVersion: v1\nkind: PodList\nitems:\n- {kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, image: i}]}}\n- {kind: Service}\n",
			[]string{"web.yaml#0.0 default/a-node-1", `web.yaml#0.1 web.yaml:5: kind "Service" is not a Pod; a node runs nothing else`, "web.yaml#* web.yaml:5: " + held},
		},
		{
			"a manifest without any text holds the file", " \n\x00\x00\n",
			[]string{"web.yaml#* web.yaml: the manifest is empty; remove it to end its pods"},
		},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, outline(Decode([]byte(tc.text), testFrom))); diff != "" {
				t.Errorf("documents (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeNamesTheLine(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		rule, text, want string
	}{
		{"no apiVersion", "kind: Pod\n", "1: apiVersion is missing; a pod has apiVersion v1 and kind Pod"},
		{"no kind", "# x\napiVersion: v1\n", "2: kind is missing; a pod has apiVersion v1 and kind Pod"},
		{"another version", "apiVersion: v2\nkind: Pod\n", `1: apiVersion "v2" of a Pod is not supported; it is v1`},
		{"another kind", "apiVersion: apps/v1\nkind: Deployment\n", `2: kind "Deployment" is not a Pod; a node runs nothing else`},
		{"kind is no string", "apiVersion: v1\nkind: [Pod]\n", `2: kind: expected a string, got a list`},
		{"no object", "- a\n", "1: not an object; a manifest begins with apiVersion and kind"},
		{"mapping in a value", "a: 1\nb: c: d\n", "2: mapping values are not allowed in this context"},
		{"bad indentation", "x:\n  a: 1\n  b: 2\n c: 3\n", "4: did not find expected key"},
		{"a tab", "a: 1\n\tb: 2\n", "2: a tab indents this line; YAML takes spaces only"},
		{"an open quote", "x:\n  a: \"foo\nb: 2\n", "2: found unexpected end of stream"},
		{"an unknown anchor", "x: 1\ny: *foo\n", "2: an alias (*) names no anchor; put a value that begins with * in quotes"},
		{"two documents without a separator", "a: 1\n...\nb: 2\n", "3: did not find expected <document start>"},
		{"a control character", "a: 1\nb: \x01\n", "2: control character 0x01 at byte 8"},
		{"no UTF-8", "a: 1\nb: \xff\n", "2: not valid UTF-8"},
		{"UTF-16 behind a separator", "---\n\xff\xfea\x00:\x00 \x001\x00\n\x00", "2: from here on the text is in UTF-16, little-endian; save the whole file as UTF-8"},
		{"UTF-16 behind other text", "a: 1\nb\x00:\x00 \x001\x00\n\x00", "2: from here on the text is in UTF-16, little-endian; save the whole file as UTF-8"},
		{"the mark of UTF-16 before UTF-8", "a: 1\n\xfe\xffb: 1\n", "2: from here on the text is in UTF-16, big-endian; save the whole file as UTF-8"},
		{
			"a byte order mark in the middle of a document", "a: 1\n\ufeffb: 2\n",
			"2: a byte order mark (EF BB BF), which editors do not show, begins this line; save the file without it, or begin a new document with a line \"---\" before it",
		},
		{
			"a byte order mark within a line", "a: 1\nb: [\ufeff\n",
			"2: did not find expected ',' or ']'; a byte order mark (EF BB BF), which editors do not show, stands in line 2: save the file without it",
		},
		{"a tab that indents", "a:\n  b: 1\n\tc: 2\n", "3: a tab indents this line; YAML takes spaces only"},
		{"a tab that indents an item", "a:\n\t- b\n", "2: a tab indents this line; YAML takes spaces only"},
		{"a sign that begins no value", "a: 1\nb: @c\n", "2: found character that cannot start any token"},
		{
			"a fault in what is merged names the anchor",
			manifest("    env:", "    - &e", "      name: a", "      vlue: b", "    - <<: *e", "      value: c"),
			"12: spec.containers[0].env[0].vlue: unknown field; did you mean value?; " +
				"line 12: spec.containers[0].env[1].vlue: unknown field; did you mean value?",
		},
		{"a merge key that is not first", manifest("    env:", "    - &e {name: a}", "    - value: b", "      <<: *e"), "12: the merge key << must come first"},
		{
			"a field is not looked for below its siblings",
			"apiVersion: v1\nkind: Pod\nmetadata:\n  labels:\n    name: a\nspec: {containers: [{name: c, image: i}]}\n",
			"3: metadata.name: Required value",
		},
		{"a duplicate key", "a: 1\nb:\n  c: 1\n  c: 2\n", `4: duplicate key "c", first in line 3`},
		{"an unknown field", manifest("    imge: x"), "9: spec.containers[0].imge: unknown field; did you mean image?"},
		{"an unknown field like no other", manifest("  zzzzzz: x"), "9: spec.zzzzzz: unknown field"},
		{"a field in the wrong case", manifest("  hostnetwork: true"), "9: spec.hostnetwork: unknown field; did you mean hostNetwork?"},
		{
			"an unknown field within an unsupported one", manifest("  affinity:", "    podAffinity: {requiredDuringSchedulingIgnoredDuringExecutio: []}"),
			"10: spec.affinity.podAffinity: not supported by this version yet; line 10: spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecutio: unknown field; did you mean requiredDuringSchedulingIgnoredDuringExecution?",
		},
		{"a number for a string", manifest("    args: [a, 5]"), "9: spec.containers[0].args[1]: expected a string, got a number; put it in quotes"},
		{
			"yes is a boolean", manifest("    env:", "    - name: A", "      value: yes"),
			"11: spec.containers[0].env[0].value: expected a string, got a boolean; put it in quotes",
		},
		{
			"a string for a number", manifest("    ports:", "    - containerPort: \"80\""),
			"10: spec.containers[0].ports[0].containerPort: expected a number, got a string",
		},
		{
			"a number too great", manifest("    ports:", "    - containerPort: 3000000000"),
			"10: spec.containers[0].ports[0].containerPort: expected a whole number of 32 bits, got 3000000000",
		},
		{
			"a number too great is told as it is written", manifest("  terminationGracePeriodSeconds: 99999999999999999999"),
			"9: spec.terminationGracePeriodSeconds: expected a whole number of 64 bits, got 99999999999999999999",
		},
		{
			"so is one in JSON", `{"apiVersion":"v1","kind":"Pod","spec":{"terminationGracePeriodSeconds":12345678901234567890123}}`,
			"1: spec.terminationGracePeriodSeconds: expected a whole number of 64 bits, got 12345678901234567890123",
		},
		{
			"so is one behind an alias", manifest("    ports:", "    - containerPort: &n 0x1_0000_0000", "    - containerPort: *n"),
			"10: spec.containers[0].ports[0].containerPort: expected a whole number of 32 bits, got 0x1_0000_0000; " +
				"line 11: spec.containers[0].ports[1].containerPort: expected a whole number of 32 bits, got 0x1_0000_0000",
		},
		{
			"so is one in an item of a list",
			"apiVersion: v1\nkind: PodList\nitems:\n- spec:\n    terminationGracePeriodSeconds: 1.50\n",
			"5: spec.terminationGracePeriodSeconds: expected a whole number of 64 bits, got 1.50",
		},
		{
			"so is one that is not the only value", manifest("  schedulerName: 1_0"),
			"9: spec.schedulerName: 1_0 is not supported by this version yet; supported: default-scheduler; line 9: spec.schedulerName: expected a string, got a number; put it in quotes",
		},
		{
			"a number of very many digits is told by the first ones",
			manifest("  terminationGracePeriodSeconds: 1." + strings.Repeat("5", 200)),
			"9: spec.terminationGracePeriodSeconds: expected a whole number of 64 bits, got 1." + strings.Repeat("5", 62) + "…",
		},
		{"a string for a boolean", manifest("  hostNetwork: \"true\""), "9: spec.hostNetwork: expected true or false, got a string"},
		{"an object for a list", manifest("  volumes: {a: b}"), "9: spec.volumes: expected a list, got an object"},
		{
			"a bad quantity", manifest("    resources:", "      limits:", "        cpu: lots"),
			`11: spec.containers[0].resources.limits[cpu]: "lots" is not a quantity; write a number, with or without a unit, such as 2, 0.5, 100m or 64Mi`,
		},
		{
			"a bad quantity that is far too large", manifest("    resources:", "      requests: {memory: 1.5e7777}"),
			`10: spec.containers[0].resources.requests[memory]: "1.5e7777" is far too large, or too exact`,
		},
		{
			"a bad quantity that is neither", manifest("    resources:", "      limits: {cpu: [1]}"),
			`10: spec.containers[0].resources.limits[cpu]: a list is not a quantity; write a number, with or without a unit, such as 2, 0.5, 100m or 64Mi`,
		},
		{
			"a long quantity is told by its beginning", manifest("    resources:", "      limits: {cpu: "+strings.Repeat("x", 65)+"}"),
			`10: spec.containers[0].resources.limits[cpu]: "` + strings.Repeat("x", 64) + `…" is far too large, or too exact`,
		},
		{
			"a bad limit is not told again of the request that follows from it", manifest("    resources:", "      limits: {memory: -1Mi}"),
			`10: spec.containers[0].resources.limits[memory]: Invalid value: "-1Mi": must be greater than or equal to 0`,
		},
		{
			"a quantity is quoted as it is written", manifest("    resources:", "      limits: {cpu: -1000m}"),
			`10: spec.containers[0].resources.limits[cpu]: Invalid value: "-1000m": must be greater than or equal to 0`,
		},
		{
			"a request of its own is told", manifest("    resources:", "      limits: {memory: -1Mi}", "      requests: {memory: -2Mi}"),
			`10: spec.containers[0].resources.limits[memory]: Invalid value: "-1Mi": must be greater than or equal to 0; ` +
				`line 11: spec.containers[0].resources.requests[memory]: Invalid value: "-2Mi": must be greater than or equal to 0`,
		},
		{
			"a name is quoted as it is written", strings.Replace(manifest(), "name: web\n", "name: Zed\n", 1),
			`4: metadata.name: Invalid value: "Zed": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
		},
		{
			"a name that the node makes too long says so", strings.Replace(manifest(), "name: web\n", "name: "+strings.Repeat("a", 250)+"\n", 1),
			`4: metadata.name: Invalid value: "` + strings.Repeat("a", 250) + `": with the node's name it is "` + strings.Repeat("a", 250) + `-node-1": must be no more than 253 characters`,
		},
		{"a kind in small letters", "apiVersion: v1\nkind: pod\n", `2: kind "pod" is not known: capital and small letters count, write Pod`},
		{"a list in capitals", "apiVersion: v1\nkind: PODLIST\n", `2: kind "PODLIST" is not known: capital and small letters count, write PodList`},
		{"a key in small letters", "apiversion: v1\nkind: Pod\n", "1: apiVersion is missing; a pod has apiVersion v1 and kind Pod, did you mean apiVersion by apiversion?"},
		{"another key in capitals", "apiVersion: v1\nKind: Pod\n", "2: kind is missing; a pod has apiVersion v1 and kind Pod, did you mean kind by Kind?"},
		{"a missing field names the nearest parent", manifest("  - name: b"), "9: spec.containers[1].image: Required value"},
		{
			"a fault behind an alias names the anchor", "x: &x {name: c, image: i, bad: 1}\n" + manifest("  - *x"),
			"1: spec.containers[1].bad: unknown field; line 1: x: unknown field",
		},
		{
			"several faults come in the order of lines", manifest("    stdn: true", "  hostnetwork: true"),
			"9: spec.containers[0].stdn: unknown field; did you mean stdin?; line 10: spec.hostnetwork: unknown field; did you mean hostNetwork?",
		},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			t.Parallel()
			docs := Decode([]byte(tc.text), testFrom)
			if len(docs) == 0 || docs[0].Err == nil {
				t.Fatalf("not refused: %v", docs)
			}
			got := strings.TrimPrefix(docs[0].Err.Error(), "/m/web.yaml:")
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("fault (-want +got):\n%s", diff)
			}
			if docs := Decode([]byte("# two\n# lines\n---\n"+tc.text), testFrom); docs[0].Err.Line == 0 {
				t.Error("no line")
			}
		})
	}
}

func TestDocumentError_linesAreOnePerFault(t *testing.T) {
	t.Parallel()
	many := make([]string, 12)
	for i := range many {
		many[i] = fmt.Sprintf("  zzz%d: x", i)
	}
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"one":       {manifest("    stdn: true"), []string{"/m/web.yaml:9: spec.containers[0].stdn: unknown field; did you mean stdin?"}},
		"not a pod": {"kind: Pod\n", []string{"/m/web.yaml:1: apiVersion is missing; a pod has apiVersion v1 and kind Pod"}},
		"of a value": {manifest("    resources: {limits: {cpu: -1}, requests: {cpu: -2}}", "    ports: [{containerPort: 0}]"), []string{
			`/m/web.yaml:9: spec.containers[0].resources.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0`,
			`/m/web.yaml:9: spec.containers[0].resources.requests[cpu]: Invalid value: "-2": must be greater than or equal to 0`,
			`/m/web.yaml:10: spec.containers[0].ports[0].containerPort: Required value`,
		}},
		"two": {manifest("    stdn: true", "  hostnetwork: true"), []string{
			"/m/web.yaml:9: spec.containers[0].stdn: unknown field; did you mean stdin?",
			"/m/web.yaml:10: spec.hostnetwork: unknown field; did you mean hostNetwork?",
		}},
	} {
		if diff := cmp.Diff(tc.want, Decode([]byte(tc.text), testFrom)[0].Err.Lines()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	lines := Decode([]byte(manifest(many...)), testFrom)[0].Err.Lines()
	if len(lines) != api.MaxFaults+1 || lines[api.MaxFaults] != "/m/web.yaml: and more" {
		t.Errorf("of many %q", lines)
	}
}

func TestDecodeAddsTheLinesAboveADocument(t *testing.T) {
	t.Parallel()
	docs := Decode([]byte(named("a")+"---\n"+manifest("    imge: x")), testFrom)
	if got, want := docs[1].Err.Line, 4+1+9; got != want {
		t.Errorf("line %d, want %d", got, want)
	}
}

func TestDecodeIsBounded(t *testing.T) {
	t.Parallel()
	aliases := func(n int) string {
		var b strings.Builder
		b.WriteString("a0: &a0 [" + strings.Repeat("x, ", 9) + "]\n")
		for i := 1; i < n; i++ {
			prev, next := "*a"+string(rune('a'+i-1)), "&a"+string(rune('a'+i))
			if i == 1 {
				prev = "*a0"
			}
			b.WriteString(strings.TrimPrefix(next, "&") + ": " + next + " [" + strings.Repeat(prev+", ", 9) + "]\n")
		}
		return b.String()
	}
	for _, tc := range []struct {
		rule, text, want string
	}{
		{"aliases that multiply", aliases(12), "once its aliases are resolved"},
		{"a long text referred to often", "a: &a " + strings.Repeat("x", 1<<20) + "\nb: [" + strings.Repeat("*a, ", 1<<10) + "]\n", "once its aliases are resolved"},
		{"an anchor that contains itself", "a: &a [*a]\n", "contains itself"},
		{"flow nesting", strings.Repeat("[", 5<<20), "exceeded max depth"},
		{"moderate nesting", "a: " + strings.Repeat("[", 500) + strings.Repeat("]", 500), "nested deeper than 100 levels"},
		{"nesting by aliases", "a: &a " + strings.Repeat("[", 60) + strings.Repeat("]", 60) + "\nb: " + strings.Repeat("[", 60) + "*a" + strings.Repeat("]", 60), "nested deeper than 100 levels"},
		{"very many values", strings.Repeat("- a\n", 1<<20), "values in one document"},
		{"too many bytes", "# " + strings.Repeat("x", MaxManifest), "larger than 10485760 bytes"},
		{"a quantity with a billion digits", manifest("    resources: {limits: {cpu: 1e999999999}, requests: {cpu: 1}}"), "far too large, or too exact"},
		{"a quantity of many digits", manifest("    resources: {limits: {cpu: \"" + strings.Repeat("9", 1<<20) + "\"}}"), "far too large, or too exact"},
		{"very many documents", strings.Repeat("---\na\n", 1<<20), "more than 1000 documents"},
		{"very many items", "apiVersion: v1\nkind: List\nitems: [" + strings.Repeat("{}, ", 1001) + "]\n", "items: more than 1000"},
		{"very many unknown fields", "apiVersion: v1\nkind: Pod\n" + string(manyKeys(100_000)), "and more"},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			docs := Decode([]byte(tc.text), testFrom)
			if len(docs) == 0 || docs[0].Err == nil || !strings.Contains(docs[0].Err.Error(), tc.want) {
				t.Errorf("got %.300v, want a fault with %q", docs, tc.want)
			}
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

func manyKeys(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		b.WriteString(strings.Repeat("k", i%7) + pod.Digest([]byte{byte(i), byte(i >> 8), byte(i >> 16)})[:16] + ": 1\n")
	}
	return b.Bytes()
}

func TestDecodeVersions(t *testing.T) {
	t.Parallel()
	version := func(text string) string { return Decode([]byte(text), testFrom)[0].Version }
	if version(named("a")) == version(named("a")+"# a comment\n") {
		t.Error("other bytes have the same version")
	}
	if version(named("a")) != version(named("a")+"---\n"+named("b")) {
		t.Error("another document of the file changes the version")
	}
	list := "apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: a, namespace: n}\n  spec: {containers: [{name: c, image: i}]}\n"
	if version(list) != version(strings.Replace(list, "{name: a, namespace: n}", "{namespace: n, name: a} # x", 1)) {
		t.Error("order and comments change the version of an item")
	}
	bad := strings.Replace(named("a"), "image", "imge", 1)
	if version(bad) == "" {
		t.Error("a bad document has no version")
	}
}

func TestDecodeTakesWhatKubectlRunWrites(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/kubectl/*")
	if err != nil || len(files) < 5 {
		t.Fatalf("found %d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			decodeOne(t, string(text))
		})
	}
}
