package manifest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"

	"github.com/wardlet/wardlet/core/api"
)

// said returns one line for each document of an object.
func said(docs []api.Document) (lines []string) {
	for i := range docs {
		d := &docs[i]
		id := strings.TrimPrefix(d.ID, "/m/web.yaml")
		switch o := d.Object.(type) {
		case *v1.ConfigMap:
			lines = append(lines, fmt.Sprintf("%s ConfigMap %s/%s %v, %q", id, o.Namespace, o.Name, o.Data, o.BinaryData))
		case *v1.Secret:
			lines = append(lines, fmt.Sprintf("%s Secret %s/%s %s %q", id, o.Namespace, o.Name, o.Type, o.Data))
		case *nodev1.RuntimeClass:
			lines = append(lines, fmt.Sprintf("%s RuntimeClass %s %s", id, o.Name, o.Handler))
		default:
			text := id + " " + strings.ReplaceAll(d.Err.Error(), "/m/web.yaml:", "")
			if d.Claims.Name != "" {
				text += " [" + d.Claims.String() + "]"
			}
			lines = append(lines, text)
		}
	}
	return lines
}

func TestDecodeObjects(t *testing.T) {
	t.Parallel()
	const held = "#* 2: which objects the file holds is uncertain; those it held before go on until this is mended"
	configMap := func(text string) string { return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\n" + text }
	secret := func(text string) string { return "apiVersion: v1\nkind: Secret\nmetadata: {name: app}\n" + text }
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"config map": {
			"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: app\n  namespace: team\ndata: {a: text}\nbinaryData: {b: AAE=}\n",
			[]string{`#0 ConfigMap team/app map[a:text], map["b":"\x00\x01"]`},
		},
		"as kubectl writes it": {
			"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: app\n  uid: x\n  resourceVersion: '5'\n  creationTimestamp: 2026-01-01T00:00:00Z\n  managedFields: [{manager: kubectl}]\n",
			[]string{`#0 ConfigMap default/app map[], map[]`},
		},
		"secret of two forms":   {secret("data: {a: eA==}\nstringData: {b: z}\n"), []string{`#0 Secret default/app Opaque map["a":"x" "b":"z"]`}},
		"secret that overrides": {secret("data: {a: eA==}\nstringData: {a: z}\n"), []string{`#0 Secret default/app Opaque map["a":"z"]`}},
		"runtime class":         {"apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: gvisor}\nhandler: runsc\n", []string{"#0 RuntimeClass gvisor runsc"}},
		"several, and a list": {
			configMap("") + "---\n" + "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: s}}\n- {apiVersion: v1, kind: Pod, metadata: {name: p}}\n",
			[]string{
				"#0 ConfigMap default/app map[], map[]", "#1.0 Secret default/s Opaque map[]",
				"#1.1 9: kind \"Pod\" is not one of ConfigMap, Secret and RuntimeClass; pods on this node name no other objects [default/p]",
			},
		},
		"comments only":          {"# nothing\n", nil},
		"empty":                  {"", []string{"#*  the manifest is empty; remove it to end its objects"}},
		"pod":                    {"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n", []string{"#0 2: kind \"Pod\" is not one of ConfigMap, Secret and RuntimeClass; pods on this node name no other objects [default/p]"}},
		"another version":        {"apiVersion: v2\nkind: Secret\nmetadata: {name: p}\n", []string{"#0 1: apiVersion \"v2\" of a Secret is not supported; it is v1 [default/p]"}},
		"small letters":          {"apiVersion: v1\nkind: secret\nmetadata: {name: p}\n", []string{"#0 2: kind \"secret\" is not known: capital and small letters count, write Secret [default/p]"}},
		"no kind":                {"apiVersion: v1\nmetadata: {name: p}\n", []string{"#0 1: kind is missing; a ConfigMap and a Secret have apiVersion v1, a RuntimeClass has node.k8s.io/v1 [default/p]"}},
		"no name":                {"apiVersion: v1\nkind: Secret\n", []string{"#0 1: metadata.name: Required value: name or generateName is required", strings.Replace(held, "2:", "1:", 1)}},
		"text of a secret":       {secret("data:\n  a: hunter2!\n"), []string{"#0 5: data[a]: not base64: illegal base64 data at input byte 7; plain text stands in stringData of a Secret, and in data of a ConfigMap [default/app]"}},
		"number":                 {configMap("data:\n  a: 5\n"), []string{"#0 5: data[a]: expected a string, got a number; put it in quotes [default/app]"}},
		"key with a path":        {configMap("data:\n  a/b: x\n"), []string{"#0 5: data[a/b]: Invalid value: \"a/b\": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+') [default/app]"}},
		"key of dots":            {secret("stringData:\n  ..: x\n"), []string{"#0 5: stringData[..]: Invalid value: \"..\": must not be '..' [default/app]"}},
		"key that begins so":     {secret("stringData:\n  ..data: x\n"), []string{"#0 5: stringData[..data]: Invalid value: \"..data\": must not start with '..' [default/app]"}},
		"unknown field":          {configMap("datas: {a: x}\n"), []string{"#0 4: datas: unknown field; did you mean data? [default/app]"}},
		"key in both":            {configMap("data: {a: x}\nbinaryData:\n  a: eA==\n"), []string{"#0 6: binaryData[a]: Forbidden: the key stands in data already [default/app]"}},
		"value is an alias":      {secret("stringData:\n  a: *hunter2\n"), []string{"#0 5: an alias (*) names no anchor; put a value that begins with * in quotes", strings.Replace(held, "2:", "5:", 1)}},
		"registry without a key": {secret("type: kubernetes.io/dockerconfigjson\n"), []string{"#0 1: data[.dockerconfigjson]: Required value: a Secret of type kubernetes.io/dockerconfigjson has it [default/app]"}},
		"registry that is none":  {secret("type: kubernetes.io/dockerconfigjson\nstringData: {.dockerconfigjson: 'hunter2'}\n"), []string{"#0 1: data[.dockerconfigjson]: Invalid value: not JSON [default/app]"}},
		"too large":              {configMap("data:\n  a: " + strings.Repeat("x", 1<<20+1) + "\n"), []string{"#0 4: data: Too long: may not be more than 1048576 bytes [default/app]"}},
		"overhead":               {"apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: kata}\nhandler: kata\noverhead: {podFixed: {cpu: 1}}\n", []string{"#0 5: overhead: Forbidden: this version sets no overhead on pods; leave it out [default/kata]"}},
		"class in a namespace":   {"apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: kata, namespace: team}\nhandler: kata\n", []string{"#0 3: metadata.namespace: Forbidden: not allowed on this type [team/kata]"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := said(DecodeObjects([]byte(tc.text), testFrom))
			if !slices.Equal(got, tc.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tc.want, "\n"))
			}
			if strings.Contains(strings.Join(got, "\n"), "hunter2") {
				t.Error("a value is shown")
			}
		})
	}
}

func TestDecodeObjects_sameContentIsTheSameVersion(t *testing.T) {
	t.Parallel()
	version := func(text string) string {
		return DecodeObjects([]byte(text), testFrom)[0].Object.GetResourceVersion()
	}
	const plain = "apiVersion: v1\nkind: Secret\nmetadata: {name: app}\nstringData: {a: x}\n"
	if version(plain) != version("# a comment\n"+plain) || version(plain) != version(strings.Replace(plain, "stringData: {a: x}", "data: {a: eA==}", 1)) {
		t.Error("the same object has another version")
	}
	if version(plain) == version(strings.Replace(plain, "a: x", "a: z", 1)) {
		t.Error("another object has the same version")
	}
}

func FuzzDecodeObjects(f *testing.F) {
	for _, text := range []string{
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: b}\nbinaryData: {c: AAE=}\nimmutable: true\n",
		"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {a: b}\ntype: kubernetes.io/tls\n",
		"apiVersion: v1\nkind: List\nitems: [{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: a}, handler: b}]\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, d := range DecodeObjects(data, testFrom) {
			if (d.Err == nil) == (d.Object == nil) {
				t.Fatalf("%s has an object and a fault, or neither", d.ID)
			}
			if d.Object != nil && (d.Object.GetName() == "" || d.Object.GetResourceVersion() == "") {
				t.Fatalf("%s has no name or no version", d.ID)
			}
		}
	})
}
