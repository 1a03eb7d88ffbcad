package manifest

import "strings"

// The verdicts of a kubelet on a case.
const (
	taken   = "taken"
	refused = "refused"
)

// documentCase is a whole text.
type documentCase struct {
	rule, text string
	// file and http are the verdicts of a kubelet on the text as a file and over HTTP: taken or
	// refused.
	file, http string
	// differs are the lines of docs/differences.md that the comparison must have used for the file
	// or over HTTP.
	differs []string
}

// item returns a pod of a list, without its kind.
func item(name string) string {
	return "- metadata: {name: " + name + "}\n  spec: {containers: [{name: c, image: i}]}\n"
}

func kinded(name string) string {
	return "- apiVersion: v1\n  kind: Pod\n  metadata: {name: " + name + "}\n  spec: {containers: [{name: c, image: i}]}\n"
}

func podNamed(name string) string { return strings.Replace(minimal, "name: web", "name: "+name, 1) }

const (
	podList  = "apiVersion: v1\nkind: PodList\nitems:\n"
	list     = "apiVersion: v1\nkind: List\nitems:\n"
	asJSON   = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","labels":{"a":"%"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`
	jsonList = `{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}}]}`
)

func inAnnotation(json string) string {
	return strings.Replace(asJSON, `"labels":{"a":"%"}`, `"annotations":{"a":"`+json+`"}`, 1)
}

var documentCases = []documentCase{
	{"the least a pod can say", minimal, taken, taken, nil},
	{"every honoured field", full, taken, taken, nil},
	{"JSON", inAnnotation("b"), taken, taken, nil},
	{"JSON, indented with tabs", "{\n\t\"apiVersion\": \"v1\",\n\t\"kind\": \"Pod\",\n\t\"metadata\": {\"name\": \"web\"},\n\t\"spec\": {\"containers\": [{\"name\": \"c\", \"image\": \"i\"}]}\n}\n", taken, taken, nil},
	{"JSON with spaces around it", "\n\n  " + inAnnotation("b") + "\n\n", taken, taken, nil},
	{"JSON with a slash that is escaped", inAnnotation(`a\/b`), taken, taken, nil},
	{"JSON with characters of the basic plane, escaped", inAnnotation(`\u00e9\u20ac\u2028`), taken, taken, nil},
	{"JSON with a character beyond the basic plane, escaped", inAnnotation(`\ud83d\ude00`), taken, taken, nil},
	{"JSON with a character beyond the basic plane", inAnnotation(`😀`), taken, taken, nil},
	{"JSON with half of such a character", inAnnotation(`\ud83d`), taken, taken, nil},
	{"JSON with a NUL in a string", inAnnotation(`\u0000`), taken, taken, nil},
	{"JSON with a delete in a string", inAnnotation("\x7f"), taken, taken, nil},
	{"JSON with what YAML takes for line ends", inAnnotation("a\u0085b\u2028c\u2029d"), taken, taken, nil},
	{"JSON that is no UTF-8", inAnnotation("a\xffb"), taken, taken, []string{"not-utf8"}},
	{"JSON with a tab in a string", inAnnotation("\t"), refused, refused, []string{"flow-yaml"}},
	{"JSON with a colon on a line of its own", strings.Replace(inAnnotation("b"), `"kind":`, "\"kind\"\n:", 1), taken, taken, nil},
	{"JSON with a comma too many", strings.Replace(inAnnotation("b"), `"i"}]`, `"i",}]`, 1), refused, refused, []string{"flow-yaml"}},
	{"JSON with a comment", "{ # text\n" + inAnnotation("b")[1:], refused, refused, []string{"flow-yaml"}},
	{"JSON with words that are not in quotes", "{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: c, image: i}]}}", refused, refused, []string{"flow-yaml"}},
	{"JSON with a fraction of zero for a whole number", strings.Replace(inAnnotation("b"), `"spec":{`, `"spec":{"terminationGracePeriodSeconds":5.0,`, 1), refused, refused, []string{"whole-fraction"}},
	{"JSON with a key twice", strings.Replace(inAnnotation("b"), `"kind":"Pod",`, `"kind":"Pod","kind":"Pod",`, 1), taken, taken, []string{"duplicate-key"}},
	{"JSON with a number that is too great for a string", strings.Replace(inAnnotation("b"), `"name":"c"`, `"name":1e400`, 1), refused, refused, nil},
	{"JSON with a number that is too great where nothing is known", strings.Replace(inAnnotation("b"), `"kind":`, `"more":1e400,"kind":`, 1), taken, taken, []string{"huge-number", "unknown-field"}},
	{"JSON with a quantity that has an exponent", strings.Replace(inAnnotation("b"), `"name":"c"`, `"name":"c","resources":{"limits":{"cpu":1e3}}`, 1), taken, taken, []string{"number-form"}},
	{"JSON after a tab", "\t" + inAnnotation("b"), taken, taken, nil},
	{"JSON that is cut off", inAnnotation("b")[:100], refused, refused, nil},
	{"two JSON documents", inAnnotation("b") + "\n" + inAnnotation("c"), refused, refused, nil},
	{"text after JSON", inAnnotation("b") + "\nmore", refused, refused, nil},
	{"a comment after JSON", inAnnotation("b") + "\n# more\n", refused, refused, []string{"flow-yaml"}},
	{"a marker after JSON", inAnnotation("b") + "\n---\n", refused, refused, []string{"flow-yaml"}},

	{"a comment before", "# licence\n" + minimal, taken, taken, nil},
	{"a comment and a marker before", "# licence\n---\n" + minimal, taken, taken, nil},
	{"a marker before", "---\n" + minimal, taken, taken, nil},
	{"a byte order mark", "\ufeff" + minimal, taken, taken, nil},
	{"lines that end as Windows ends them", strings.ReplaceAll(minimal, "\n", "\r\n"), taken, taken, nil},
	{"an end marker", minimal + "...\n", taken, taken, nil},
	{"a directive", "%YAML 1.1\n# licence\n---\n" + minimal, taken, taken, nil},
	{"a tag", "apiVersion: !!str v1\nkind: Pod\nmetadata: {name: !!str 7}\nspec: {containers: [{name: c, image: i}]}\n", taken, taken, nil},
	{"a tag of one's own", "apiVersion: v1\nkind: Pod\nmetadata: {name: !mine web}\nspec: {containers: [{name: c, image: i}]}\n", taken, taken, nil},
	{"a block of text", strings.Split(minimal, "spec:")[0] + "spec:\n  containers:\n  - name: c\n    image: i\n    args:\n    - |\n      a\n      --- b\n    - >-\n      c\n      d\n", taken, taken, nil},
	{"an anchor and an alias", "apiVersion: v1\nkind: Pod\nmetadata: {name: &n web, labels: {app: *n}}\nspec: {containers: [&c {name: c, image: i}]}\n", taken, taken, nil},
	{"a merge key", "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n  - &c {name: c, image: i}\n  - {<<: *c, name: d}\n", taken, taken, nil},
	{"a merge key that is not first", "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  volumes: [{name: v, emptyDir: &e {}}]\n  containers: [{name: c, image: i, securityContext: {privileged: false, <<: *e}}]\n", taken, taken, []string{"merge-key-last"}},
	{"a merge key that is not first and says another thing", "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n  - &c {name: c, image: i}\n  - {name: d, <<: *c}\n", refused, refused, nil},
	{"a merge of two", "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n  - &c {name: c, image: i}\n  - &d {tty: true, name: d, image: j}\n  - {<<: [*c, *d], name: e}\n", taken, taken, nil},
	{"an anchor in a field nobody knows", "apiVersion: v1\nkind: Pod\nx-names: {a: &n web}\nmetadata: {name: *n}\nspec: {containers: [{name: c, image: i}]}\n", taken, taken, []string{"unknown-field"}},
	{"a key twice", "apiVersion: v1\nkind: Pod\nmetadata: {name: a, name: web}\nspec: {containers: [{name: c, image: i}]}\n", taken, taken, []string{"duplicate-key"}},
	{"a field of the API in other letters", strings.Replace(minimal, "spec: {", "spec: {hostnetwork: true, ", 1), taken, taken, []string{"unknown-field"}},
	{"a kind in other letters", strings.Replace(minimal, "kind", "Kind", 1), taken, taken, []string{"kind-letters"}},
	{"text after the end", minimal + "...\nmore: text\n", taken, taken, []string{"after-the-end"}},
	{"broken text after the end", minimal + "...\na: b: c\n", taken, taken, []string{"after-the-end"}},
	{"a byte order mark before a document of a stream", "---\n\ufeff" + minimal, refused, refused, []string{"byte-order-mark"}},
	{"a byte order mark within a document", strings.Replace(minimal, "spec:", "\ufeffspec:", 1), refused, refused, nil},
	{"a byte order mark within a document, and the key twice", minimal + "\ufeffapiVersion: v1\n", taken, taken, []string{"byte-order-mark"}},
	{"a comment that YAML ends before its line", "# text\u0085word\n---\n" + minimal, refused, refused, nil},
	{"a comment that is no UTF-8", "# \xff\n---\n" + minimal, refused, refused, nil},
	{"a field in other letters that pods must have", strings.Replace(minimal, "image: i", "Image: i", 1), refused, refused, nil},
	{"a field nobody knows", strings.Replace(minimal, "image: i", "image: i, imagePolicy: Always", 1), taken, taken, []string{"unknown-field"}},
	{"a null where nothing is known", minimal + "more: null\n", taken, taken, []string{"unknown-field"}},
	{"a key that is a number", strings.Replace(minimal, "{name: web}", "{name: web, labels: {7: a, true: b}}", 1), taken, taken, nil},
	{"a key that is null", strings.Replace(minimal, "{name: web}", "{name: web, labels: {null: a}}", 1), refused, refused, nil},
	{"a key that is a list", "? [a]\n: b\n" + minimal, refused, refused, nil},
	{"values of YAML 1.1", strings.Replace(minimal, "image: i", "image: i, tty: on, stdin: off, ports: [{containerPort: 0o17}, {containerPort: 1_000}]", 1), taken, taken, nil},
	{"sexagesimal numbers", strings.Replace(minimal, "image: i", "image: i, ports: [{containerPort: 1:20}]", 1), refused, refused, nil},
	{"binary text", strings.Replace(minimal, "{name: web}", "{name: !!binary d2Vi}", 1), taken, taken, nil},
	{"a time where a string should be", strings.Replace(minimal, "{name: web}", "{name: web, annotations: {a: 2026-01-02}}", 1), taken, taken, nil},

	{"nothing", "", refused, refused, nil},
	{"spaces", " \n\n", refused, refused, nil},
	{"a comment", "# nothing here\n", refused, refused, []string{"no-pods"}},
	{"null", "null\n", refused, refused, nil},
	{"a word", "web\n", refused, refused, nil},
	{"a list of YAML", "- " + strings.ReplaceAll(minimal, "\n", "\n  "), refused, refused, nil},
	{"NUL bytes", "\x00\x00\x00\x00", refused, refused, nil},
	{"a NUL byte within", strings.Replace(minimal, "web", "we\x00b", 1), refused, refused, nil},
	{"a control character", strings.Replace(minimal, "image: i", "image: \"i\x01\"", 1), refused, refused, nil},
	{"a delete", strings.Replace(minimal, "image: i", "image: \"i\x7f\"", 1), refused, refused, nil},
	{"no UTF-8", strings.Replace(minimal, "web", "w\xffb", 1), refused, refused, nil},
	{"a tab as indentation", "apiVersion: v1\nkind: Pod\nmetadata:\n\tname: web\n", refused, refused, nil},
	{"an anchor that contains itself", "apiVersion: v1\nkind: Pod\nmetadata: &m {name: web, labels: *m}\n", refused, refused, nil},
	{"deep nesting where it is ignored", minimal + "x: " + strings.Repeat("[", 150) + strings.Repeat("]", 150) + "\n", taken, taken, []string{"too-large"}},
	{"a document that breaks off", full[:len(full)/2], refused, refused, nil},
	{"a document that breaks off between two containers", strings.Split(full, "  - name: sidecar")[0], taken, taken, nil},

	{"two pods", podNamed("a") + "---\n" + podNamed("b"), taken, taken, []string{"multi-document"}},
	{"three pods, one of them bad", podNamed("a") + "---\n" + podNamed("B") + "---\n" + podNamed("c"), taken, taken, []string{"multi-document"}},
	{"two pods, the first of them bad", podNamed("A") + "---\n" + podNamed("b"), refused, refused, []string{"multi-document"}},
	{"a pod and an empty document", minimal + "---\n", taken, taken, nil},
	{"an empty document and a pod", "---\n# nothing\n---\n" + minimal, refused, refused, []string{"multi-document"}},
	{"a pod and something else", minimal + "---\napiVersion: v1\nkind: Service\nmetadata: {name: web}\n", taken, taken, []string{"multi-document"}},
	{"a pod and a document that does not parse", minimal + "---\na: [b\n", taken, taken, []string{"multi-document"}},

	{"a PodList", podList + item("a") + item("b"), refused, taken, []string{"list-in-file"}},
	{"a PodList of one", podList + item("a"), refused, taken, []string{"list-in-file"}},
	{"a PodList as JSON", jsonList, refused, taken, []string{"list-in-file"}},
	{"a PodList whose items say their kind", podList + kinded("a") + kinded("b"), refused, taken, []string{"list-in-file"}},
	{"a PodList whose items say half of it", podList + strings.Replace(item("a"), "- ", "- kind: Pod\n  ", 1), refused, taken, []string{"list-in-file"}},
	{"a PodList whose item is something else", podList + strings.Replace(item("a"), "- ", "- kind: Service\n  apiVersion: v1\n  ", 1), refused, taken, []string{"item-kind"}},
	{"an empty PodList", "apiVersion: v1\nkind: PodList\nitems: []\n", refused, taken, []string{"list-in-file"}},
	{"a PodList whose items are null", "apiVersion: v1\nkind: PodList\nitems: null\n", refused, taken, []string{"list-in-file"}},
	{"a PodList without items", "apiVersion: v1\nkind: PodList\n", refused, taken, []string{"list-part"}},
	{"a page of a PodList", "apiVersion: v1\nkind: PodList\nmetadata: {continue: abc}\nitems:\n" + item("a"), refused, taken, []string{"list-part"}},
	{"another one", "apiVersion: v1\nkind: PodList\nmetadata: {remainingItemCount: 2}\nitems: []\n", refused, taken, []string{"list-part"}},
	{"a PodList that is no page", "apiVersion: v1\nkind: PodList\nmetadata: {continue: \"\"}\nitems:\n" + item("a"), refused, taken, []string{"list-in-file"}},
	{"a PodList with list metadata", "apiVersion: v1\nkind: PodList\nmetadata: {resourceVersion: \"7\"}\nitems:\n" + item("a"), refused, taken, []string{"list-in-file"}},
	{"a PodList with a bad item", podList + item("a") + item("B") + item("c"), refused, refused, []string{"bad-item"}},
	{"a PodList with an item that is no object", podList + item("a") + "- 7\n", refused, refused, []string{"bad-item"}},
	{"a PodList with a null item", podList + item("a") + "- null\n", refused, refused, []string{"bad-item"}},
	{"a PodList in which all are bad", podList + item("A") + item("B"), refused, refused, nil},
	{"a PodList with a pod twice", podList + item("a") + item("a"), refused, taken, []string{"list-in-file"}},
	{"a PodList whose items are no list", "apiVersion: v1\nkind: PodList\nitems: {}\n", refused, refused, nil},
	{"a PodList with a field nobody knows", "apiVersion: v1\nkind: PodList\nitem: []\nitems:\n" + item("a"), refused, taken, []string{"unknown-field"}},
	{"a PodList of another version", "apiVersion: v2\nkind: PodList\nitems:\n" + item("a"), refused, refused, nil},
	{"a List", list + kinded("a") + kinded("b"), refused, refused, []string{"list-kind"}},
	{"a List whose items do not say their kind", list + item("a"), refused, refused, nil},
	{"a List of other things", list + "- {apiVersion: v1, kind: Service, metadata: {name: a}}\n", refused, refused, nil},
	{"a List in a List", list + "- {apiVersion: v1, kind: List, items: []}\n", refused, refused, nil},
	{"an empty List", "apiVersion: v1\nkind: List\nitems: []\n", refused, refused, []string{"list-kind"}},
	{"a PodList and a pod", podList + item("a") + "---\n" + podNamed("b"), refused, taken, []string{"multi-document"}},

	{"a Deployment", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {}\n", refused, refused, nil},
	{"a PodTemplate", "apiVersion: v1\nkind: PodTemplate\nmetadata: {name: web}\ntemplate: {spec: {containers: [{name: c, image: i}]}}\n", refused, refused, nil},
	{"a Binding, whose fields resemble a pod's", "apiVersion: v1\nkind: Binding\nmetadata: {name: web}\ntarget: {name: a}\n", refused, refused, nil},
}

// notHonoured are fields of the Pod API that a kubelet accepts and this version of Wardlet does not
// support.
var notHonoured = []fieldCase{
	of("metadata.ownerReferences", "[{apiVersion: v1, kind: Node, name: a, uid: b}]", "[]"),
	of("metadata.finalizers", "[example.com/a]", "[]"),
	of("metadata.managedFields", "[]"), of("metadata.resourceVersion", "'7'"), of("metadata.generation", "7"), of("metadata.selfLink", "/a"),
	of("metadata.deletionTimestamp", "'2026-01-02T03:04:05Z'"), of("metadata.deletionGracePeriodSeconds", "7"),
	of("spec.affinity.podAffinity", "{}"), of("spec.affinity.podAntiAffinity", "{}"),
	of("spec.topologySpreadConstraints", "[]"), of("spec.schedulingGates", "[]"),
	of("spec.resourceClaims", "[]"), of("spec.ephemeralContainers", "[]"),
	of("spec.containers[0].volumeDevices", "[]"),
	of("spec.containers[0].resizePolicy", "[]", "[{resourceName: cpu, restartPolicy: NotRequired}]"),

	of("spec.volumes[3].nfs", "{server: a, path: /b}"),
	of("spec.volumes[3].image", "{reference: a}"), of("spec.volumes[3].gitRepo", "{repository: a}"), of("spec.volumes[3].iscsi", "{targetPortal: a, iqn: iqn.2001-04.com.example:a, lun: 0}"),
}

func of(path string, differs ...string) fieldCase {
	c := fieldCase{path: path, differs: map[string]string{}}
	for _, v := range differs {
		c.differs[v] = unsupported
	}
	return c
}

// emptyWords are fields in which a kubelet accepts an empty string as a value.
var emptyWords = []fieldCase{
	{path: "spec.runtimeClassName", invalid: []string{`""`}},
	{path: "spec.hostnameOverride", invalid: []string{`""`}},
	{path: "spec.hostname", valid: []string{`""`, "null"}},
	{path: "spec.serviceAccountName", valid: []string{`""`}},
	{path: "spec.containers[0].restartPolicy", invalid: []string{`""`}},
}

var kinds = []place{aFile, aURL}
