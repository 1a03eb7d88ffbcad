package mutate

import (
	"fmt"
	"strings"
	"testing"
)

func TestAPatchIsRefusedThat(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ patch, want string }{
		"is empty":                           {``, "it is not valid JSON"},
		"is no JSON":                         {`[{"op":}]`, "it is not valid JSON"},
		"goes on after its end":              {`[] []`, "it is not valid JSON"},
		"is no UTF-8":                        {"[{\"op\":\"remove\",\"path\":\"/\xff\"}]", "it is not valid UTF-8"},
		"is no list":                         {`{"op":"remove","path":"/spec"}`, "want a JSON array of operations, as RFC 6902 has it, got an object"},
		"has an operation that is none":      {`[null]`, "operation 0: want an object, got null"},
		"moves":                              {`[{"op":"move","from":"/spec/containers/0","path":"/spec/containers/1"}]`, `operation 0: "op" is "move"; it must be add, replace, remove or test`},
		"copies":                             {`[{"op":"copy","from":"/spec","path":"/metadata/labels"}]`, `operation 0: "op" is "copy"`},
		"has no op":                          {`[{"path":"/spec"}]`, `operation 0: "op" must be`},
		"has an op that is no string":        {`[{"op":1,"path":"/spec"}]`, `operation 0: "op" must be`},
		"has no path":                        {`[{"op":"remove"}]`, `operation 0: "path" must be a string`},
		"says an op twice":                   {`[{"op":"test","op":"remove","path":"/spec"}]`, `an object has the key "op" twice`},
		"says a key of a value twice":        {`[{"op":"add","path":"/metadata/labels","value":{"a":"1","\u0061":"2"}}]`, `an object has the key "a" twice`},
		"adds no value":                      {`[{"op":"add","path":"/metadata/labels/a"}]`, `operation 0: add "/metadata/labels/a": "value" is missing; what is to be null must say so`},
		"tests no value":                     {`[{"op":"test","path":""}]`, `operation 0: test "": "value" is missing`},
		"has a path without a slash":         {`[{"op":"remove","path":"x/spec/hostNetwork"}]`, `operation 0: the path "x/spec/hostNetwork": a JSON pointer begins with "/"`},
		"has a wrong escape":                 {`[{"op":"remove","path":"/metadata/labels/a~2"}]`, `"~" must be followed by 0 or 1`},
		"has half an escape":                 {`[{"op":"remove","path":"/metadata/labels/a~"}]`, `"~" must be followed by 0 or 1`},
		"has control characters in its path": {`[{"op":"remove","path":"/metadata/\u001b[31m\n"}]`, `operation 0, remove "/metadata/\x1b[31m\n": the document has no "\x1b[31m\n" there`},
		"removes what is not there":          {`[{"op":"remove","path":"/metadata/labels/none"}]`, `operation 0, remove "/metadata/labels/none": the document has no "none" there; add it first, or leave it out`},
		"replaces what is not there":         {`[{"op":"replace","path":"/spec/hostNetwork","value":true}]`, `operation 0, replace "/spec/hostNetwork": the document has no "hostNetwork" there`},
		"tests what is not there":            {`[{"op":"test","path":"/spec/hostNetwork","value":null}]`, `operation 0, test "/spec/hostNetwork": the document has no "hostNetwork" there`},
		"adds below what is not there":       {`[{"op":"add","path":"/spec/affinity/nodeAffinity","value":{}}]`, `the document has no "affinity" there`},
		"adds below a word":                  {`[{"op":"add","path":"/kind/a","value":1}]`, `there is nothing below a string, so no "a" either; add what is around it first`},
		"has an empty element":               {`[{"op":"replace","path":"/spec//hostNetwork","value":1}]`, `the document has no "" there`},
		"fails its second test": {
			`[{"op":"test","path":"/kind","value":"Pod"},{"op":"test","path":"/spec/containers/0/image","value":"x"}]`,
			`operation 1, test "/spec/containers/0/image": the test failed: the document has another value there (a string)`,
		},
		"tests a list with null":      {`[{"op":"test","path":"/spec/containers","value":[null]}]`, `the test failed: the document has another value there (a list)`},
		"tests the whole":             {`[{"op":"test","path":"","value":{}}]`, `operation 0, test "": the test failed`},
		"removes the whole":           {`[{"op":"remove","path":""}]`, `operation 0, remove "": the whole document cannot be removed`},
		"makes a list of the pod":     {`[{"op":"replace","path":"","value":[]}]`, `it makes a list of the pod`},
		"names an element by a word":  {`[{"op":"remove","path":"/spec/containers/app"}]`, `"app" is no index of a list`},
		"counts from the end":         {`[{"op":"remove","path":"/spec/containers/-1"}]`, `"-1" is no index of a list`},
		"writes an index with a plus": {`[{"op":"remove","path":"/spec/containers/+1"}]`, `"+1" is no index of a list`},
		"writes an index with a zero": {`[{"op":"remove","path":"/spec/containers/01"}]`, `"01" is no index of a list: want a number from 0 without leading zeros`},
		"replaces the end of a list":  {`[{"op":"replace","path":"/spec/containers/-","value":1}]`, `"-" is no index of a list`},
		"goes on from a list's end":   {`[{"op":"add","path":"/spec/containers/-/image","value":1}]`, `"-" is no index of a list`},
		"names one element too many":  {`[{"op":"replace","path":"/spec/containers/2/image","value":"x"}]`, `the list has no element 2, it has 2 elements`},
		"leaves a gap in a list":      {`[{"op":"add","path":"/spec/containers/3","value":{}}]`, `the list has no element 3, it has 2 elements`},
		"names a huge element":        {`[{"op":"add","path":"/spec/containers/18446744073709551616","value":{}}]`, `"18446744073709551616" is no index of a list`},
		"writes an unknown field":     {`[{"op":"add","path":"/spec/containers/0/imag","value":"x"}]`, `what it makes of the pod is not valid: spec.containers[0].imag: unknown field; did you mean image?`},
		"writes another type":         {`[{"op":"add","path":"/spec/hostNetwork","value":"true"}]`, `spec.hostNetwork: expected true or false, got a string`},
		"writes what is not honoured": {`[{"op":"add","path":"/spec/resources","value":{"limits":{"example.com/gpu":"1"}}}]`, `spec.resources.limits[example.com/gpu]: not supported by this version yet`},
		"asks for API objects":        {`[{"op":"add","path":"/spec/volumes/-","value":{"name":"s","persistentVolumeClaim":{"claimName":"s"}}}]`, `static pods may not reference`},
		"makes an invalid pod":        {`[{"op":"replace","path":"/spec/containers/1/name","value":"app"}]`, `spec.containers[1].name: Duplicate value: "app"`},
		"has two faults":              {`[{"op":"add","path":"/spec/a","value":1},{"op":"add","path":"/spec/b","value":1}]`, `spec.a: unknown field; spec.b: unknown field`},
		"removes all containers":      {`[{"op":"replace","path":"/spec/containers","value":[]}]`, `spec.containers: Required value`},
		"mounts no volume":            {`[{"op":"replace","path":"/spec/containers/0/volumeMounts/0/name","value":"none"}]`, `spec.containers[0].volumeMounts[0].name: Not found: "none"`},
		"adds a toleration of nothing": {
			`[{"op":"add","path":"/spec/tolerations/-","value":{"operator":"Sometimes"}}]`, `spec.tolerations[1].operator: `,
		},
		"writes a huge quantity": {
			`[{"op":"replace","path":"/spec/containers/0/resources/limits","value":{"cpu":"1e999999999"}}]`,
			`"/spec/containers/0/resources/limits/cpu": the quantity is far too large, or too exact`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refused(t, staticPod(t), test.patch, everything(false), ErrPatch, test.want)
		})
	}
}

func TestAPatchOfAnAPIPodIsReadStrictly(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ patch, want string }{
		"an unknown field":      {`[{"op":"add","path":"/spec/containers/0/imag","value":"x"}]`, `unknown field "spec.containers[0].imag"`},
		"a field in other case": {`[{"op":"add","path":"/spec/hostnetwork","value":true}]`, `unknown field "spec.hostnetwork"`},
		"another type":          {`[{"op":"add","path":"/spec/hostNetwork","value":"true"}]`, `cannot unmarshal string`},
		"what is not honoured":  {`[{"op":"add","path":"/spec/resources","value":{"limits":{"example.com/gpu":"1"}}}]`, `spec.resources.limits[example.com/gpu]: not supported by this version yet`},
		"an invalid pod":        {`[{"op":"replace","path":"/spec/containers/0/image","value":""}]`, `spec.containers[0].image: Required value`},
		"a huge quantity":       {`[{"op":"replace","path":"/spec/containers/0/resources/limits/cpu","value":"1e999999999"}]`, `the quantity is far too large`},
		"a quantity too exact":  {`[{"op":"add","path":"/spec/containers/1/resources/limits","value":{"cpu":"0.` + strings.Repeat("1", 70) + `"}}]`, `the quantity is far too large, or too exact`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refused(t, apiPod(t), test.patch, everything(true), ErrPatch, test.want)
		})
	}
}

func TestAPatchIsBounded(t *testing.T) {
	t.Parallel()
	const add = `{"op":"add","path":"/spec/containers/0/env/0","value":`
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	times := func(n int, s string) string { return strings.TrimSuffix(strings.Repeat(s+",", n), ",") }
	env := make([]string, 600)
	for i := range env {
		env[i] = fmt.Sprintf(`{"name":"N%d","value":"x"}`, i)
	}
	for name, test := range map[string]struct{ patch, want string }{
		"in length":        {"[" + strings.Repeat(" ", MaxPatch) + "]", "it has 1048578 bytes, more than the 1048576 a patch may have"},
		"in operations":    {"[" + times(maxOperations+1, `{"op":"test","path":"/kind","value":"Pod"}`) + "]", "it has 1025 operations, more than the 1024"},
		"in values":        {"[" + add + "[" + times(maxValues, "0") + "]}]", "it has more than 10000 values"},
		"in depth":         {"[" + add + deep(maxDepth-1) + "}]", "nested deeper than 64 levels"},
		"in a path's size": {`[{"op":"remove","path":"/` + strings.Repeat("a", maxPointer) + `"}]`, "it has 2049 bytes, more than the 2048 a path may have"},
		"in a path's depth": {
			`[{"op":"remove","path":"` + strings.Repeat("/a", maxTokens+1) + `"}]`, "it has 33 elements, more than the 32 a path may have",
		},
		"in digits":       {"[" + add + strings.Repeat("1", maxNumber+1) + "}]", "a number has 65 digits"},
		"in what it says": {`[{"op":"remove","path":"/metadata/` + strings.Repeat("a", 1900) + `"}]`, "…"},
		"in the names of images": {
			`[{"op":"add","path":"/spec/containers/0/image","value":"` + strings.Repeat("a", 40<<10) + `"},` +
				`{"op":"add","path":"/spec/containers/1","value":{"name":"log","image":"` + strings.Repeat("a", 40<<10) + `"}}]`,
			`"/spec/containers/1/image": the names of images have more than 65536 bytes together: no registry has such`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refused(t, staticPod(t), test.patch, everything(false), ErrPatch, test.want)
		})
	}
	t.Run("in places it changes", func(t *testing.T) {
		t.Parallel()
		p := staticPod(t)
		p = applied(t, p, `[{"op":"add","path":"/spec/containers/1/env","value":[`+strings.Join(env, ",")+`]}]`, everything(false)).Pod
		other := strings.ReplaceAll(strings.ReplaceAll(strings.Join(env, ","), "N", "M"), `"x"`, `"y"`)
		refused(t, p, `[{"op":"replace","path":"/spec/containers/1/env","value":[`+other+`]}]`, everything(false), ErrPatch,
			"it changes more than 1024 places: change less at once")
	})
	t.Run("in elements it moves", func(t *testing.T) {
		t.Parallel()
		inserts := times(600, `{"op":"add","path":"/metadata/labels/a/0","value":0}`)
		patch := `[{"op":"add","path":"/metadata/labels/a","value":[` + times(7_500, "0") + `]},` + inserts + `]`
		refused(t, staticPod(t), patch, everything(false), ErrPatch, "operation 540, add \"/metadata/labels/a/0\": the patch inserts into long lists too often: replace the list")
	})
	t.Run("and the greatest there may be is applied", func(t *testing.T) {
		t.Parallel()
		p := staticPod(t)
		patch := "[" + times(maxOperations-2, `{"op":"test","path":"/kind","value":"Pod"}`) + "," +
			`{"op":"add","path":"/metadata/labels/a","value":` + deep(maxDepth-2) + `},{"op":"replace","path":"/metadata/labels/a","value":"b"}]`
		if got := applied(t, p, patch, everything(false)); got.Pod.Labels["a"] != "b" {
			t.Errorf("labels %v", got.Pod.Labels)
		}
	})
}

func TestValuesOfOperationsAreApart(t *testing.T) {
	t.Parallel()
	// A later operation may change a value that an operation added. Equal values that other
	// operations added must not change with it.
	p := staticPod(t)
	got := applied(t, p, `[
		{"op":"add","path":"/spec/containers/0/command","value":["a","b"]},
		{"op":"add","path":"/spec/containers/1/command","value":["a","b"]},
		{"op":"replace","path":"/spec/containers/0/command/0","value":"x"},
		{"op":"add","path":"/spec/containers/0/command/0","value":"y"},
		{"op":"test","path":"/spec/containers/1/command","value":["a","b"]}]`, everything(false))
	if c := got.Pod.Spec.Containers; strings.Join(c[0].Command, "") != "yxb" || strings.Join(c[1].Command, "") != "ab" {
		t.Errorf("commands %v and %v", c[0].Command, c[1].Command)
	}
}
