package main

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/test/attack"
	w "github.com/wardlet/wardlet/test/wasmtest"
)

// The addresses that the modules use, and the number of their pages of memory.
const (
	pages  = 17
	paths  = 256       // the texts of declared fields
	given  = 4 << 10   // the input of the function
	buffer = 512 << 10 // the output of the function
	room   = 512 << 10

	// outputBytes is the maximum of output_bytes.
	outputBytes = 1 << 20
)

// call is a function of the host with one input.
type call struct {
	// of is the function, input names the input of the call.
	of    w.Import
	input string
	// args are the parameters, text is the content at address given.
	args w.Code
	text string
	// fields are declared first, each by a call of field; their handles are their indices.
	fields []string
	// most is the most calls in one hook, 0 for no limit. long calls use 100 000 units and more.
	most int
	long bool
	// atInit: the calls are made in wardlet_init, once per load.
	atInit bool
	// pod is the pod of the question, nil for a small one.
	pod *v1.Pod
	// settings are the settings of the policy.
	settings map[string]any
	// node are the facts about the node, nil for none.
	node *abi.NodeFacts
}

// name returns the name of the function and of its input.
func (c *call) name() string { return strings.TrimSpace(c.of.Name + " " + c.input) }

// module returns a plugin that makes n calls in each hook, or in its initialisation.
func (c *call) module(n int) []byte {
	imports := []w.Import{c.of}
	if len(c.fields) > 0 {
		imports = append(imports, w.Field)
	}
	m := w.Plugin(imports...)
	m.Replace(5, []byte{1, 0, pages})
	if c.text != "" {
		m.Data(given, c.text)
	}
	calls := w.Join(w.Loop(w.Join(
		c.args, w.Call(m.Imported(c.of.Name)), dropped(c.of),
		w.LocalGet(0), w.I32Const(1), w.I32Add, w.LocalSet(0), w.LocalGet(0), w.I32Const(int32(n)), w.I32LtU, w.BrIf(0),
	)))
	if c.atInit {
		m.Export("wardlet_init", m.Func(nil, []w.Type{w.I32}, []w.Type{w.I32}, calls, w.I32Const(0)))
		m.Data(buffer, le(room-8))
		m.Export("wardlet_input", m.Func(nil, []w.Type{w.I32}, nil, w.I32Const(buffer)))
		m.Admit(w.I32Const(0))
		return m.Bytes()
	}
	var declares w.Code
	at := int32(paths)
	for _, f := range c.fields {
		m.Data(at, f)
		declares = w.Join(declares, w.I32Const(at), w.I32Const(int32(len(f))), w.Call(m.Imported("field")), w.Drop)
		at += int32(len(f))
	}
	if len(c.fields) > 0 {
		m.Init(declares, w.I32Const(0))
	}
	m.Admit(calls, w.I32Const(0))
	return m.Bytes()
}

func dropped(of w.Import) w.Code {
	if len(of.Results) == 0 {
		return nil
	}
	return w.Drop
}

// options returns the options to load the module of a call, for an owner's policy.
func (c *call) options(owner string) wasm.Options {
	o := wasm.Options{
		Policy: "calls", Hooks: []string{"admit"}, Settings: c.settings, MemoryPages: pages, Fuel: 1 << 40, OutputBytes: outputBytes,
		Node: "node-1", Tenant: owner,
	}
	if c.node != nil {
		o.Capabilities = []string{abi.CapabilityNodeRead}
	}
	return o
}

// question returns the question to the plugin.
func (c *call) question() *abi.Request {
	r := attack.Request("registry.example/a:1")
	if c.pod != nil {
		r.Question.Pod = c.pod
	}
	r.Node = c.node
	return r
}

// numbers returns i32 constants.
func numbers(n ...int32) w.Code {
	var code w.Code
	for _, i := range n {
		code = w.Join(code, w.I32Const(i))
	}
	return code
}

// calls returns all functions with their most expensive inputs.
func calls() []*call {
	return slices.Concat(pathCalls(), getCalls(), jsonCalls(), settingCalls(), textCalls(), patchCalls(), logCalls(), wasiCalls())
}

const (
	deepPath = "object.spec.@containers[*].lifecycle.preStop.httpGet.httpHeaders[*].value"
	farPath  = "object.spec.volumes[*].projected.sources[*].clusterTrustBundle.labelSelector.matchExpressions[*].values"
)

func pathCalls() (all []*call) {
	for _, of := range []w.Import{w.Path, w.Field} {
		declares := func(input, text string, most int) {
			all = append(all, &call{of: of, input: input, text: text, args: numbers(given, int32(len(text))), atInit: true, most: most})
		}
		declares("deep", deepPath, 60)
		declares("far", farPath, 60)
		declares("that is refused", "object.spec.containers[*].environment", 0)
		declares("of 31 keys", "object"+strings.Repeat("['"+strings.Repeat(`\'`, 12)+"']", 31), 0)
		declares("of brackets", "a"+strings.Repeat("[0]", 341), 0)
		declares("of nothing", "", 0)
		all = append(all, &call{of: of, input: "in a hook", text: deepPath, args: numbers(given, int32(len(deepPath)))})
	}
	return all
}

func getCalls() (all []*call) {
	gets := func(name, path string, p *v1.Pod, node *abi.NodeFacts) {
		all = append(all, &call{of: w.Get, input: name, fields: []string{path}, args: numbers(0, buffer, room), pod: p, node: node})
	}
	all = append(all, &call{of: w.Get, input: "no handle", args: numbers(7, buffer, room)})
	gets("a string", "object.metadata.name", nil, nil)
	gets("missing", "object.spec.hostname", nil, nil)
	gets("a time", "object.metadata.creationTimestamp", widePod(), nil)
	gets("strings", "object.spec.containers[*].image", widePod(), nil)
	gets("empty lists", "object.spec.containers[*].ports[*].hostPort", widePod(), nil)
	gets("all containers", "object.spec.@containers[*].name", widePod(), nil)
	gets("binary quantities", "object.spec.containers[*].resources.limits['memory']", widePod(), nil)
	gets("decimal quantities", "object.spec.containers[*].resources.limits['cpu']", widePod(), nil)
	gets("long quantities", "object.spec.containers[*].resources.limits['example.com/long']", widePod(), nil)
	gets("quantities that are not there", "object.spec.containers[*].resources.requests['example.com/none']", widePod(), nil)
	gets("maps of quantities", "object.spec.containers[*].resources.limits", widePod(), nil)
	gets("objects", "object.spec.containers[*].securityContext", widePod(), nil)
	gets("ports by name", "object.spec.containers[*].livenessProbe.tcpSocket.port", widePod(), nil)
	gets("a map", "object.metadata.annotations", annotatedPod(), nil)
	gets("a small map", "object.metadata.labels", widePod(), nil)
	gets("an entry", "object.metadata.annotations['"+longKey(17)+"']", annotatedPod(), nil)
	gets("the whole spec", "object.spec", widePod(), nil)
	gets("the metadata", "object.metadata", annotatedPod(), nil)
	emptyCalls(gets)
	quantityCalls(gets)
	gets("times", "object.metadata.managedFields[*].time", managedPod(), nil)
	gets("managed fields", "object.metadata.managedFields[*]", managedPod(), nil)
	gets("maps of the node's pods", "node.pods[*].labels", nil, busyNode())
	gets("long keys of the node's pods that are not there", "node.pods[*].labels['"+strings.Repeat("a", 900)+"']", nil, busyNode())
	gets("the node's allocatable", "node.allocatable", nil, busyNode())
	for _, c := range all {
		c.long = slices.Contains([]string{"maps of quantities", "objects", "a map", "the whole spec", "the metadata", "maps of the node's pods"}, c.input) || c.pod != nil && c.pod.Name == manyName
	}
	all = append(all, &call{
		of: w.Get, input: "without room", fields: []string{"object.spec.containers[*].image"}, args: numbers(0, buffer, 0), pod: widePod(),
	})
	return all
}

// manyName is the name of pods with many values.
const manyName = "many"

// many returns a pod to which each has added its part a thousand times.
func many(each func(p *v1.Pod, i int)) *v1.Pod {
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: manyName, Namespace: "default", UID: "8a1b"}}
	for i := range 1000 {
		each(p, i)
	}
	return p
}

func manyContainers(each func(c *v1.Container)) *v1.Pod {
	return many(func(p *v1.Pod, _ int) {
		c := v1.Container{Name: "c"}
		each(&c)
		p.Spec.Containers = append(p.Spec.Containers, c)
	})
}

func managedPod() *v1.Pod {
	return many(func(p *v1.Pod, _ int) {
		p.ManagedFields = append(p.ManagedFields, metav1.ManagedFieldsEntry{Time: new(metav1.NewTime(attack.Now))})
	})
}

// emptyCalls read values that are short as JSON but nested deeply.
func emptyCalls(gets func(name, path string, p *v1.Pod, node *abi.NodeFacts)) {
	empty := manyContainers(func(c *v1.Container) {
		c.SecurityContext = &v1.SecurityContext{}
		c.LivenessProbe = &v1.Probe{ProbeHandler: v1.ProbeHandler{HTTPGet: &v1.HTTPGetAction{}}}
		c.Lifecycle = &v1.Lifecycle{PreStop: &v1.LifecycleHandler{}}
		c.EnvFrom = []v1.EnvFromSource{{}}
		c.Env = []v1.EnvVar{{ValueFrom: &v1.EnvVarSource{ResourceFieldRef: &v1.ResourceFieldSelector{}}}}
	})
	gets("empty objects", "object.spec.containers[*].securityContext", empty, nil)
	gets("empty resources", "object.spec.containers[*].resources", empty, nil)
	gets("empty probes", "object.spec.containers[*].livenessProbe", empty, nil)
	gets("empty requests of probes", "object.spec.containers[*].livenessProbe.httpGet", empty, nil)
	gets("nested empty objects", "object.spec.containers[*].lifecycle", empty, nil)
	gets("empty objects in lists", "object.spec.containers[*].envFrom", empty, nil)
	gets("divisors", "object.spec.containers[*].env", empty, nil)
	gets("all that is empty", "object.spec.containers", empty, nil)
	gets("far strings", "object.spec.containers[*].env[*].valueFrom.resourceFieldRef.resource", empty, nil)
	volumes := many(func(p *v1.Pod, _ int) {
		p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{VolumeSource: v1.VolumeSource{
			EmptyDir: &v1.EmptyDirVolumeSource{}, Ephemeral: &v1.EphemeralVolumeSource{VolumeClaimTemplate: &v1.PersistentVolumeClaimTemplate{}},
		}})
		p.Spec.Tolerations = append(p.Spec.Tolerations, v1.Toleration{})
	})
	gets("empty volumes", "object.spec.volumes[*].emptyDir", volumes, nil)
	gets("empty claims", "object.spec.volumes[*].ephemeral.volumeClaimTemplate", volumes, nil)
	gets("whole volumes", "object.spec.volumes[*]", volumes, nil)
	gets("empty tolerations", "object.spec.tolerations", volumes, nil)
	gets("each empty toleration", "object.spec.tolerations[*]", volumes, nil)
}

// quantityCalls read quantities, and quantities that are missing.
func quantityCalls(gets func(name, path string, p *v1.Pod, node *abi.NodeFacts)) {
	for _, text := range []string{"0", "1", "64Mi", "1500m", "1.5Gi", "1536Mi", "1Ei", "1e18", "100n", "0.1Ki", "9223372036854775807", "8999999999.123456789"} {
		p := manyContainers(func(c *v1.Container) { c.Resources.Limits = v1.ResourceList{"a": resource.MustParse(text)} })
		gets("maps of "+text, "object.spec.containers[*].resources.limits", p, nil)
		gets("quantities of "+text, "object.spec.containers[*].resources.limits['a']", p, nil)
	}
	claims := many(func(p *v1.Pod, _ int) {
		q := resource.MustParse("1.5Gi")
		p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{SizeLimit: &q}}})
	})
	gets("limits of volumes", "object.spec.volumes[*].emptyDir", claims, nil)
	crowded := manyContainers(func(c *v1.Container) {
		c.Resources.Limits = v1.ResourceList{}
		for k := range 9 {
			c.Resources.Limits[v1.ResourceName(fmt.Sprintf("k%03d", k))] = resource.MustParse("1")
		}
	})
	for _, length := range []int{15, 100, 900} {
		gets(fmt.Sprintf("keys of %d bytes that are not there", length), "object.spec.containers[*].resources.limits['"+strings.Repeat("a", length)+"']", crowded, nil)
	}
	gets("maps of nine quantities", "object.spec.containers[*].resources.limits", crowded, nil)
}

func jsonCalls() []*call {
	of := func(input string, document int32, most int, p *v1.Pod, node *abi.NodeFacts) *call {
		return &call{of: w.JSON, input: input, args: numbers(document, buffer, room), most: most, pod: p, node: node}
	}
	return []*call{
		of("none", 2, 0, nil, nil),
		of("unknown", -1, 0, nil, nil),
		of("of the request", 0, 0, nil, nil),
		of("again and again", 1, 0, widePod(), nil),
		of("once, of many quantities", 1, 1, widePod(), nil),
		of("once, of many dear quantities", 1, 1, manyContainers(func(c *v1.Container) {
			c.Resources.Limits = v1.ResourceList{"a": resource.MustParse("1.5Gi"), "b": resource.MustParse("1Ei"), "c": resource.MustParse("1.5Ki")}
		}), nil),
		of("once, of a small pod", 1, 1, nil, nil),
		of("once, of much text", 1, 1, escapedPod(), nil),
		of("once, of many annotations", 1, 1, annotatedPod(), nil),
		of("once, of the node", 3, 1, nil, busyNode()),
	}
}

func settingCalls() (all []*call) {
	settings := worstSettings()
	looks := func(input, path string) {
		all = append(all, &call{
			of: w.Setting, input: input, text: path, args: numbers(given, int32(len(path)), buffer, room), settings: settings,
		})
	}
	looks("a string", "name")
	looks("missing", "nothing")
	looks("of a quoted key with escapes", "a['"+strings.Repeat(`\'`, 500)+"']")
	looks("of many quoted keys with escapes", "a"+strings.Repeat(`['\'']`, 31))
	looks("of many quoted keys", "a"+strings.Repeat(`['b']`, 31))
	looks("that is no path", "!")
	looks("of no index", "a[x]")
	looks("of a long index", "a["+strings.Repeat("9", 1000)+"]")
	looks("of an open key", "a['")
	looks("of a wrong escape", `a['\n`)
	looks("of too many brackets", "a"+strings.Repeat("[0]", 341))
	looks("of no UTF-8", "\xff")
	looks("too long", strings.Repeat("a", 1025))
	looks("very long", strings.Repeat("a", 200<<10))
	looks("a long key of many", "keys['"+longKey(3999)+"']")
	looks("a long key that is not there", "keys['"+longKey(3999)[:299]+"x']")
	looks("a map", "keys")
	looks("a list of strings", "list")
	looks("a list of floats", "floats")
	looks("a list of lists", "lists")
	looks("a list of empty tables", "tables")
	looks("JSON", "mixed")
	looks("the whole", "")
	for _, c := range all {
		c.long = slices.Contains([]string{"a map", "JSON", "the whole"}, c.input)
	}
	for _, keys := range []int{1, 8, 10, 100, 1000} {
		settings = deepSettings(keys)
		looks(fmt.Sprintf("deep in tables of %d keys", keys), strings.Repeat("m.", 30)+"m")
		looks(fmt.Sprintf("deep in tables of %d keys, quoted", keys), "m"+strings.Repeat("['m']", 30))
		looks(fmt.Sprintf("deep in tables of %d keys, missing", keys), strings.Repeat("m.", 31)+"x")
		looks(fmt.Sprintf("of a long key, missing in %d", keys), strings.Repeat("m", 1000))
	}
	return all
}

// deepSettings returns 31 nested tables, each with so many keys.
func deepSettings(keys int) map[string]any {
	var at any = "x"
	for range 31 {
		table := map[string]any{}
		for i := range keys - 1 {
			table[fmt.Sprint(string(rune('a'+i%25)), i)] = int64(1)
		}
		table["m"] = at
		at = table
	}
	return at.(map[string]any) // the type is as made above
}

// longKey returns one of many keys that differ only near their end.
func longKey(i int) string { return fmt.Sprintf("%s%06d", strings.Repeat("k", 294), i) }

func worstSettings() map[string]any {
	keys, mixed := map[string]any{}, map[string]any{"number": int64(1)}
	var list, floats, lists, tables []any
	for i := range 4000 {
		keys[longKey(i)] = "v"
	}
	for i := range 2000 {
		list, floats, lists, tables = append(list, "v"), append(floats, 1/float64(i+3)), append(lists, []any{}), append(tables, map[string]any{})
		mixed[fmt.Sprint("f", i)], mixed[fmt.Sprint("s", i)] = 1/float64(i+3), strings.Repeat("\x01\"", 10)
	}
	return map[string]any{
		"name": "value", "a": map[string]any{"b": "c"}, "keys": keys, "mixed": mixed, "list": list, "floats": floats, "lists": lists, "tables": tables,
	}
}

func textCalls() (all []*call) {
	for input, text := range hostileTexts() {
		n := int32(len(text))
		all = append(all,
			&call{of: w.Reason, input: input, text: text, args: numbers(given, min(n, 64), given, n)},
			&call{of: w.Annotate, input: input, text: text, args: numbers(given, max(1, min(n, 126)), given, n)},
			&call{of: w.Explain, input: input, text: text, args: numbers(given, n)},
			&call{of: w.Warn, input: input, text: text, args: numbers(given, n), most: 64},
		)
		for _, c := range all[len(all)-4:] {
			if n > 0 {
				c.most = min(max(c.most, 1<<20), outputBytes/(int(n)+256))
			}
		}
		all[len(all)-1].most = min(64, max(1, outputBytes/(int(n)+1)))
	}
	slices.SortFunc(all, func(a, b *call) int { return strings.Compare(a.name(), b.name()) })
	return append(all,
		&call{of: w.Warn, input: "in a row, of nothing", args: numbers(given, 0), most: 64},
		&call{of: w.RetryAfter, args: w.I64Const(1000)},
	)
}

func hostileTexts() map[string]string {
	const n = 4000
	return map[string]string{
		"of few controls":       strings.Repeat("\x01", 680),
		"of few C1 controls":    strings.Repeat("\u0085", 340),
		"of few newlines":       strings.Repeat("\n", 680),
		"of a few ends of line": strings.Repeat("\u2028", 227),
		"of some torn UTF-8":    strings.Repeat("\xff\x01", 340),
		"of much torn UTF-8":    strings.Repeat("\xff\x01", n/2),
		"of nothing":            "",
		"of a letter":           "a",
		"of letters":            strings.Repeat("a", n),
		"of control characters": strings.Repeat("\x01", n),
		"of newlines":           strings.Repeat("\n", n),
		"of no UTF-8":           strings.Repeat("\xff", n),
		"of torn UTF-8":         strings.Repeat("\xe2\x80", n/2),
		"of marks of direction": strings.Repeat("\u202e", n/3),
		"of umlauts":            strings.Repeat("ä", n/2),
		"of C1 controls":        strings.Repeat("\u0085", n/2),
		"of far characters":     strings.Repeat("\U0001f600", n/4),
	}
}

func patchCalls() (all []*call) {
	of := func(input, text string) {
		most := 0
		if text != "" {
			most = outputBytes / len(text)
		}
		all = append(all, &call{of: w.Patch, input: input, text: text, args: numbers(given, int32(len(text))), most: most, long: len(text) > 4096})
	}
	list := func(operation string, n int) string {
		return "[" + strings.Repeat(operation+",", n-1) + operation + "]"
	}
	of("of nothing", "[]")
	of("of an operation", `[{"op":"test","path":""}]`)
	of("of 1024 operations", list(`{"op":"test","path":""}`, 1024))
	of("of values", list(`{"op":"add","path":"/a","value":[0,0,0,0,0,0,0,0]}`, 1000))
	of("of keys", `[{"op":"add","path":"/a"`+strings.Repeat(`,"":0`, 10_000)+"}]")
	of("of depth", `[{"op":"add","path":"","value":`+strings.Repeat("[", 9000)+strings.Repeat("]", 9000)+"}]")
	of("of escapes", list(`{"op":"\u0061dd","path":"`+strings.Repeat(`\u0041`, 20)+`"}`, 300))
	of("of numbers", `[{"op":"add","path":"","value":[`+strings.Repeat("1e9,", 10_000)+"0]}]")
	of("of spaces", "["+strings.Repeat(" ", 40_000)+"]")
	of("of long text", `[{"op":"add","path":"","value":"`+strings.Repeat("ä", 20_000)+`"}]`)
	of("of torn surrogates", `[{"op":"add","path":"`+strings.Repeat(`\ud800`, 5_000)+`"}]`)
	return all
}

func logCalls() (all []*call) {
	for input, text := range hostileTexts() {
		for level, name := range []string{"debug", "info"} {
			all = append(all, &call{
				of: w.Log, input: input + ", " + name, text: text, args: numbers(int32(level), given, int32(len(text))),
			})
		}
	}
	slices.SortFunc(all, func(a, b *call) int { return strings.Compare(a.name(), b.name()) })
	return append(all,
		&call{of: w.Log, input: "of 400 KiB", args: numbers(1, given, 400<<10)},
		&call{of: w.LogEnabled, args: numbers(1)},
		&call{of: w.LogEnabled, input: "of an unknown level", args: numbers(-1)},
	)
}

func wasiCalls() (all []*call) {
	wasi := func(name, input, text string, args ...int32) *call {
		params := make([]w.Type, len(args))
		for i := range params {
			params[i] = w.I32
		}
		c := &call{of: w.WASI(name, params...), input: input, text: text, args: numbers(args...)}
		all = append(all, c)
		return c
	}
	for _, name := range []string{"args_get", "args_sizes_get", "environ_get", "environ_sizes_get"} {
		wasi(name, "", "", buffer, buffer+4)
	}
	wasi("sched_yield", "", "")
	for clock, name := range []string{"wall", "monotonic", "unknown"} {
		all = append(all, &call{
			of:    w.WASI("clock_time_get", w.I32, w.I64, w.I32),
			input: name, args: w.Join(w.I32Const(int32(clock)), w.I64Const(1), w.I32Const(buffer)),
		})
	}
	wasi("random_get", "of nothing", "", buffer, 0)
	wasi("random_get", "of a byte", "", buffer, 1)
	wasi("random_get", "of 256 KiB", "", buffer, 256<<10)
	seeded := wasi("random_get", "once, seeded by much", "", buffer, 8)
	seeded.most, seeded.pod, seeded.node = 1, widePod(), busyNode()
	wasi("fd_close", "", "", 1)
	wasi("fd_close", "none", "", 9)
	wasi("fd_fdstat_get", "", "", 1, buffer)
	wasi("fd_fdstat_set_flags", "", "", 1, 0)
	wasi("fd_prestat_get", "", "", 3, buffer)
	wasi("fd_prestat_dir_name", "", "", 3, buffer, 8)
	for fd, name := range []string{"closed", "out", "err"} {
		for n, text := range writes() {
			wasi("fd_write", text.input+", "+name, text.vectors, int32(fd), given, text.count, buffer)
			if fd == 0 && n == 0 {
				break
			}
		}
	}
	wasi("poll_oneoff", "of nothing", "", given, buffer, 0, 4)
	for name, kind := range map[string]string{"clocks": "\x00", "descriptors": "\x01", "unknown": "\x09"} {
		one := strings.Repeat("\x00", 8) + kind + strings.Repeat("\x00", 39)
		wasi("poll_oneoff", "of a subscription of "+name, one, given, buffer, 1, 4)
		wasi("poll_oneoff", "of 1024 subscriptions of "+name, strings.Repeat(one, 1024), given, buffer, 1024, 4)
	}
	slices.SortStableFunc(all, func(a, b *call) int { return strings.Compare(a.name(), b.name()) })
	return all
}

// written is the input of fd_write: count pieces, whose vectors and texts are at address given.
type written struct {
	input, vectors string
	count          int32
}

func writes() []written {
	pieces := func(input string, count int, text string) written {
		at := given + 8*count
		vectors := strings.Repeat(le(at)+le(len(text)), count)
		return written{input, vectors + text, int32(count)}
	}
	return []written{
		pieces("of no piece", 0, ""),
		pieces("of a byte", 1, "a"),
		pieces("of a newline", 1, "\n"),
		pieces("of 1024 pieces of nothing", 1024, ""),
		pieces("of 1024 pieces of a byte", 1024, "a"),
		pieces("of 1024 lines of a byte", 1024, "a\n"),
		pieces("of 40000 newlines", 1, strings.Repeat("\n", 40_000)),
		pieces("of 20000 short lines", 1, strings.Repeat("a\n", 20_000)),
		pieces("of a long line", 1, strings.Repeat("a", 40_000)),
		pieces("of long lines", 1, strings.Repeat(strings.Repeat("\x01", 4096)+"\n", 20)),
		pieces("of lines of controls", 1, strings.Repeat(strings.Repeat("\x01", 680)+"\n", 20)),
		pieces("of lines of C1 controls", 1, strings.Repeat(strings.Repeat("\u0085", 340)+"\n", 20)),
		pieces("of lines of umlauts, a control", 1, strings.Repeat(strings.Repeat("ä", 1400)+"\x01\n", 20)),
	}
}

func le(n int) string { return string([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}) }

// widePod returns a pod with a thousand containers and all kinds of quantities.
func widePod() *v1.Pod {
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: "web", Namespace: "default", UID: "8a1b", CreationTimestamp: metav1.NewTime(attack.Now), Labels: map[string]string{"app": "web", "tier": "front"},
	}}
	for i := range 1000 {
		p.Spec.Containers = append(p.Spec.Containers, v1.Container{
			Name: fmt.Sprint("c", i), Image: "a",
			Resources: v1.ResourceRequirements{
				Limits: v1.ResourceList{
					"cpu": resource.MustParse("1500m"), "memory": resource.MustParse("64Mi"), "example.com/long": resource.MustParse("123456789012345678901234567890.5"),
				},
				Requests: v1.ResourceList{"cpu": resource.MustParse("100m")},
			},
			SecurityContext: &v1.SecurityContext{RunAsNonRoot: new(true)},
			LivenessProbe:   &v1.Probe{ProbeHandler: v1.ProbeHandler{TCPSocket: &v1.TCPSocketAction{Port: intstr.FromInt32(80)}}},
		})
	}
	return p
}

// annotatedPod returns a pod with many annotations whose keys differ only near their end.
func annotatedPod() *v1.Pod {
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", UID: "8a1b", Annotations: map[string]string{}}}
	for i := range 850 {
		p.Annotations[longKey(i)] = "v"
	}
	p.Spec.Containers = []v1.Container{{Name: "c", Image: "a"}}
	return p
}

// escapedPod returns a pod with much text that JSON escapes.
func escapedPod() *v1.Pod {
	p := annotatedPod()
	p.Annotations = map[string]string{"text": strings.Repeat("<\u2028\x01é", 30_000)}
	return p
}

// busyNode returns a node with a hundred pods.
func busyNode() *abi.NodeFacts {
	n := &abi.NodeFacts{Allocatable: map[string]string{}, Labels: map[string]string{}}
	for i := range 100 {
		labels := map[string]string{}
		for k := range 20 {
			labels[fmt.Sprintf("example.com/label-%02d", k)] = "v"
		}
		n.Pods = append(n.Pods, abi.NodePod{
			Namespace: "default", Name: fmt.Sprint("pod-", i), UID: fmt.Sprint("u", i), Labels: labels, Requests: map[string]string{"cpu": "1", "memory": "1Gi"},
		})
		n.Allocatable[fmt.Sprint("example.com/r", i)] = "1"
	}
	return n
}
