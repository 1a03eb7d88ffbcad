package abi

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
)

// repository is the path of the repository.
const repository = "../../../.."

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

func TestSpecification_fields(t *testing.T) {
	t.Parallel()
	part := abitest.Specification(t, repository, "Paths")
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
			var p Projection
			path := prefix + "." + name
			if name == "object" {
				path += ".spec"
			}
			if err := p.Declare(path, false, everything); err != nil {
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

// TestSpecification_exampleOfARecord compares the specification's example with the record
// of TestLayoutOfTheRecord.
func TestSpecification_exampleOfARecord(t *testing.T) {
	t.Parallel()
	part := abitest.Specification(t, repository, "The input area")
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
	want := []any{[]any{"ab", abitest.Missing{}}, false, map[string]string{"app": "web"}, abitest.Missing{}}
	if diff := cmp.Diff(want, abitest.ParseRecord(t, record)); diff != "" {
		t.Errorf("(-want +docs/abi.md):\n%s", diff)
	}
}

const hexDigits = "0123456789abcdef"

func TestSpecification_bounds(t *testing.T) {
	t.Parallel()
	abitest.Says(t, repository,
		fmt.Sprintf("At most %d bytes and %d steps.", MaxPathBytes, maxPathSegments),
		fmt.Sprintf("both give handles from one sequence, %d altogether", MaxPaths),
		fmt.Sprintf("| %d | every quantity that is written, as a string or within JSON, and is a whole number", wholeExtra),
		fmt.Sprintf("| %d | every other quantity |", otherExtra),
		fmt.Sprintf("| %d | every time that is written as a string |", timeExtra),
		fmt.Sprintf("| %d | every byte of a key of a map of strings", keyExtra),
		fmt.Sprintf("| 1 | every %d bytes of a key each time that it is looked up", lookupBytes),
		fmt.Sprintf("| %d | every value of type %d that `get` gives, and every document", jsonExtra, typeJSON),
		fmt.Sprintf("| %d | every field that the type of such a value has", jsonFieldExtra),
		fmt.Sprintf("the capability `%s`", CapabilityNodeRead),
		fmt.Sprintf("| %d | the request:", documentRequest),
		fmt.Sprintf("| %d | `object`;", documentObject),
		fmt.Sprintf("| %d | `oldObject`,", documentOldObject),
		fmt.Sprintf("| %d | `node`,", documentNode),
		fmt.Sprintf("| %d + *i* | `candidates[i].object` |", documentCandidates),
		fmt.Sprintf("| %d | every step of that path", stepExtra),
	)
}
