package wasm

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
)

// specification returns the part of the specification below a heading.
func specification(t *testing.T, heading string) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/abi.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(text), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("docs/abi.md has no heading %q", heading)
	}
	part, _, _ := strings.Cut(after, "\n## ")
	return part
}

// firstCells returns the code words in the first cells of all tables of a part.
func firstCells(part string) []string {
	var words []string
	for _, row := range regexp.MustCompile(`(?m)^\| (`+"`"+`[^|]*) \|`).FindAllStringSubmatch(part, -1) {
		for _, word := range regexp.MustCompile("`([A-Za-z_0-9]+)[^`]*`").FindAllStringSubmatch(row[1], -1) {
			words = append(words, word[1])
		}
	}
	slices.Sort(words)
	return words
}

func TestTheSpecificationNamesWhatThereIs(t *testing.T) {
	t.Parallel()
	codes := []string{}
	for _, code := range []FailureCode{FuelExhausted, Trap, MemoryLimit, StackLimit, BadOutput, HostDenied, AbiMismatch, InputTooLarge, PluginError, NotReady, HostError} {
		codes = append(codes, string(code))
	}
	slices.Sort(codes)
	exports := slices.Sorted(maps.Keys(called))
	exports = append(exports, "memory", "wardlet_abi_1_0")
	slices.Sort(exports)
	for heading, want := range map[string][]string{
		"Imports of `wardlet1`": slices.Sorted(maps.Keys(abiFunctions)),
		"WASI":                  slices.Sorted(maps.Keys(wasiFunctions)),
		"Failures":              codes,
		"Exports":               exports,
	} {
		if diff := cmp.Diff(want, firstCells(specification(t, heading))); diff != "" {
			t.Errorf("%s: (-code +docs/abi.md):\n%s", heading, diff)
		}
	}
}

func TestTheSpecificationHasTheRightTypes(t *testing.T) {
	t.Parallel()
	part := specification(t, "Imports of `wardlet1`")
	for name, f := range abiFunctions {
		row := regexp.MustCompile("(?m)^\\| `" + name + "\\(.*$").FindString(part)
		want := strings.TrimSuffix(typeName(f.params, f.results), "(i32)")
		if len(f.results) > 0 {
			want += "i32"
		}
		if !strings.Contains(row, "`"+want+"`") {
			t.Errorf("%s: want type %s in %s", name, want, row)
		}
	}
}

// typeNames are the specification's names for types of fields.
var typeNames = map[reflect.Kind]string{
	reflect.String: "string", reflect.Bool: "bool", reflect.Int32: "integer", reflect.Int64: "integer", reflect.Map: "map of strings", reflect.Pointer: "object",
}

func typeWord(t reflect.Type) string {
	switch {
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		return "list"
	case t.Kind() == reflect.Slice:
		return "list of " + typeWord(t.Elem()) + "s"
	}
	return typeNames[t.Kind()]
}

func TestTheSpecificationsFields(t *testing.T) {
	t.Parallel()
	part := specification(t, "Paths")
	for prefix, of := range map[string]reflect.Type{
		"request": reflect.TypeFor[request](), "request.connection": reflect.TypeFor[api.Connection](),
		"request.references[*]": reflect.TypeFor[api.Reference](), "node": reflect.TypeFor[node](),
		"node.pods[*]": reflect.TypeFor[NodePod](), "candidates[*]": reflect.TypeFor[candidate](),
	} {
		want, got := map[string]string{}, map[string]string{}
		for f := range of.Fields() {
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "-" {
				name = "object"
				want[name] = "a pod"
			} else {
				want[name] = typeWord(f.Type)
			}
			var p projection
			path := prefix + "." + name
			if name == "object" {
				path += ".spec"
			}
			if err := p.declare(path, false, capabilities{node: true, references: true}); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			row := regexp.MustCompile("(?m)^\\| `" + regexp.QuoteMeta(prefix+"."+name) + "` .*$").FindString(part)
			scalar := f.Type.Kind() != reflect.Map && f.Type.Kind() != reflect.Slice && name != "object"
			if says := strings.Contains(row, "issing"); scalar && says != (options == "omitempty") {
				t.Errorf("%s: it may be missing: %v; docs/abi.md: %s", path, !says, row)
			}
		}
		for _, m := range regexp.MustCompile("(?m)^\\| `"+regexp.QuoteMeta(prefix)+"\\.([A-Za-z]+)` \\| ([a-z ]+) \\|").FindAllStringSubmatch(part, -1) {
			got[m[1]] = m[2]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-code +docs/abi.md):\n%s", prefix, diff)
		}
	}
}

// TestTheSpecificationsHooks checks that the hooks have the same names everywhere.
func TestTheSpecificationsHooks(t *testing.T) {
	t.Parallel()
	part := specification(t, "Exports")
	for hook, export := range hooks {
		if _, ok := called[export]; !ok {
			t.Errorf("%s has no type", export)
		}
		if !strings.Contains(part, "| `"+export+"` | `() -> i32` | the hook `"+hook+"`:") || !strings.Contains(part, "### Results of `"+export+"`\n") {
			t.Errorf("docs/abi.md does not explain the hook %s", hook)
		}
	}
}

// results returns the first two cells of each row in the table of a hook's results.
func results(t *testing.T, export string) map[string]string {
	t.Helper()
	_, after, _ := strings.Cut(specification(t, "Exports"), "### Results of `"+export+"`\n")
	part, _, _ := strings.Cut(after, "\n### ")
	rows := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^\| ([^|]+) \| ([^|]*)\|`).FindAllStringSubmatch(part, -1) {
		rows[m[1]] = strings.TrimSpace(m[2])
	}
	return rows
}

func TestTheSpecificationsResults(t *testing.T) {
	t.Parallel()
	admit, filter, merge := map[string]string{}, map[string]string{}, results(t, "wardlet_merge")
	for i, answer := range answers {
		admit[strconv.Itoa(i)] = string(answer)
	}
	for i, answer := range filterAnswers {
		filter[strconv.Itoa(i)] = string(answer)
	}
	for export, want := range map[string]map[string]string{"wardlet_admit": admit, "wardlet_filter": filter} {
		got := results(t, export)
		for number, answer := range want {
			if !strings.EqualFold(got[number], answer) {
				t.Errorf("%s: %s is %q, in docs/abi.md %q", export, number, answer, got[number])
			}
		}
		if _, ok := got["above "+strconv.Itoa(len(want)-1)]; !ok {
			t.Errorf("%s: docs/abi.md does not say what comes above %d", export, len(want)-1)
		}
	}
	delete(admit, "2") // a connection cannot be held
	for number, answer := range admit {
		if got := results(t, "wardlet_connect")[number]; got != answer {
			t.Errorf("wardlet_connect: %s is %q, in docs/abi.md %q", number, answer, got)
		}
	}
	for number, word := range map[int]string{mergeKeep: "keep current", mergeReject: "reject all", mergeAbstain: "abstain"} {
		if got := merge[strconv.Itoa(number)]; got != word {
			t.Errorf("wardlet_merge: %d is %q in docs/abi.md, want %q", number, got, word)
		}
	}
}

func TestTheSpecificationsBounds(t *testing.T) {
	t.Parallel()
	all, err := os.ReadFile("../../../docs/abi.md")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(all)), " ")
	for _, want := range []string{
		fmt.Sprintf("At most %d bytes and %d steps.", maxPathBytes, maxPathSegments),
		fmt.Sprintf("both give handles from one sequence, %d altogether", maxPaths),
		fmt.Sprintf("| code | %d bytes | cut |", maxReasonBytes),
		fmt.Sprintf("| message, each warning | %d KiB | cut |", maxMessageBytes>>10),
		fmt.Sprintf("| warnings | %d |", maxWarnings),
		fmt.Sprintf("| annotations | %d |", maxAnnotations),
		fmt.Sprintf("| an annotation's key | 1 to %d bytes |", maxKeyBytes),
		fmt.Sprintf("| a log line | %d KiB | cut |", maxLine>>10),
		fmt.Sprintf("| log lines of one plugin | %d KiB at once, then %d KiB a minute; each line counts %d bytes more", logBurst>>10, logPerMinute>>10, lineCost),
		fmt.Sprintf("for %d s |", int(deferredFor.Seconds())),
		fmt.Sprintf("1 to %d subscriptions", maxSubscriptions),
		fmt.Sprintf("| %d | every quantity that is written, as a string or within JSON, and is a whole number", wholeExtra),
		fmt.Sprintf("| %d | every other quantity |", otherExtra),
		fmt.Sprintf("| %d | every time that is written as a string |", timeExtra),
		fmt.Sprintf("| %d | every byte of a key of a map of strings", keyExtra),
		fmt.Sprintf("| 1 | every %d bytes of a key each time that it is looked up", lookupBytes),
		fmt.Sprintf("| %d | every value of type %d that `get` gives, and every document", jsonExtra, typeJSON),
		fmt.Sprintf("| %d | every field that the type of such a value has", jsonFieldExtra),
		fmt.Sprintf("| %d | every byte of a text of `reason`, `warn`, `annotate` and `explain` that is not", textExtra),
		fmt.Sprintf("| %d | every byte of the path of `setting`, of the first %d |", pathExtra, maxPathBytes+1),
		fmt.Sprintf("| %d | every step of that path", stepExtra),
		fmt.Sprintf("a line must fit in at %d times its length, until %d KiB and %d bytes are free", maxEscape, maxLine>>10, lineCost),
		fmt.Sprintf("At most %d pieces", maxVectors),
		fmt.Sprintf("the capability `%s`", CapabilityNodeRead),
		fmt.Sprintf("| %d | the request:", documentRequest),
		fmt.Sprintf("| %d | `object`;", documentObject),
		fmt.Sprintf("| %d | `oldObject`,", documentOldObject),
		fmt.Sprintf("| %d | `node`,", documentNode),
		fmt.Sprintf("| %d + *i* | `candidates[i].object` |", documentCandidates),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("docs/abi.md does not say %q", want)
		}
	}
	for op := range patchOperations {
		if !strings.Contains(specification(t, "Imports of `wardlet1`"), "`"+op+"`") {
			t.Errorf("docs/abi.md does not name the operation %s of patches", op)
		}
	}
}

// TestTheSpecificationsExampleIsARecord compares the specification's example with the record
// of TestLayoutOfTheRecord.
func TestTheSpecificationsExampleIsARecord(t *testing.T) {
	t.Parallel()
	part := specification(t, "The input area")
	blocks := strings.Split(part, "```")
	var record []byte
	for line := range strings.SplitSeq(blocks[len(blocks)-2], "\n") {
		for word := range strings.FieldsSeq(line) {
			if len(word) != 2 {
				break // the comment
			}
			high, low := strings.IndexByte(hexDigits, word[0]), strings.IndexByte(hexDigits, word[1])
			if high < 0 || low < 0 {
				break
			}
			record = append(record, byte(high<<4|low))
		}
	}
	want := []any{[]any{"ab", missing{}}, false, map[string]string{"app": "web"}, missing{}}
	if diff := cmp.Diff(want, parseRecord(t, record)); diff != "" {
		t.Errorf("(-want +docs/abi.md):\n%s", diff)
	}
}

const hexDigits = "0123456789abcdef"
