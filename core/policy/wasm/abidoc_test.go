package wasm

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
)

// checkout is the path of the repository.
const checkout = "../../.."

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
	for _, code := range []abi.FailureCode{abi.FuelExhausted, abi.Trap, abi.MemoryLimit, abi.StackLimit, abi.BadOutput, abi.HostDenied, abi.AbiMismatch, abi.InputTooLarge, abi.PluginError, abi.NotReady, abi.HostError} {
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
		if diff := cmp.Diff(want, firstCells(abitest.Specification(t, checkout, heading))); diff != "" {
			t.Errorf("%s: (-code +docs/abi.md):\n%s", heading, diff)
		}
	}
}

func TestTheSpecificationHasTheRightTypes(t *testing.T) {
	t.Parallel()
	part := abitest.Specification(t, checkout, "Imports of `wardlet1`")
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

// TestTheSpecificationsHooks checks that the hooks have the same names everywhere.
func TestTheSpecificationsHooks(t *testing.T) {
	t.Parallel()
	part := abitest.Specification(t, checkout, "Exports")
	for hook, export := range abi.Exports {
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
	_, after, _ := strings.Cut(abitest.Specification(t, checkout, "Exports"), "### Results of `"+export+"`\n")
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
	abitest.Says(t, checkout,
		fmt.Sprintf("| code | %d bytes | cut |", maxReasonBytes),
		fmt.Sprintf("| message, each warning | %d KiB | cut |", maxMessageBytes>>10),
		fmt.Sprintf("| warnings | %d |", maxWarnings),
		fmt.Sprintf("| annotations | %d |", maxAnnotations),
		fmt.Sprintf("| an annotation's key | 1 to %d bytes |", maxKeyBytes),
		fmt.Sprintf("for %d s |", int(deferredFor.Seconds())),
		fmt.Sprintf("1 to %d subscriptions", maxSubscriptions),
		fmt.Sprintf("| %d | every byte of a text of `reason`, `warn`, `annotate` and `explain` that is not", textExtra),
		fmt.Sprintf("| %d | every byte of the path of `setting`, of the first %d |", pathExtra, abi.MaxPathBytes+1),
		fmt.Sprintf("At most %d pieces", maxVectors),
	)
	for op := range patchOperations {
		if !strings.Contains(abitest.Specification(t, checkout, "Imports of `wardlet1`"), "`"+op+"`") {
			t.Errorf("docs/abi.md does not name the operation %s of patches", op)
		}
	}
}
