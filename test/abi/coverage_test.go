package abi

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// firstCells returns the code words in the first cells of all table rows that begin with a code
// word, in a part of the specification. It leaves out the types of functions.
func firstCells(part string) (words []string) {
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]*) \\|").FindAllStringSubmatch(part, -1) {
		for _, word := range regexp.MustCompile("`([^`(]+)[^`]*`").FindAllStringSubmatch(row[1], -1) {
			words = append(words, word[1])
		}
	}
	return words
}

// notInTheSet are the failures that no module can bring about, the same on
// every host and every time.
var notInTheSet = []string{"NotReady", "HostError"}

func TestEveryFailureHasACase(t *testing.T) {
	t.Parallel()
	have := map[string]bool{}
	for _, c := range readSet(t).Cases {
		if c.Refused != nil {
			have[c.Refused.Code] = true
		}
		for _, call := range c.Calls {
			have[call.Want.code()] = true
		}
	}
	delete(have, "") // answers, and settings that are refused
	want := slices.DeleteFunc(firstCells(section(t, "## Failures")), func(code string) bool { return slices.Contains(notInTheSet, code) })
	if diff := cmp.Diff(slices.Sorted(slices.Values(want)), slices.Sorted(maps.Keys(have))); diff != "" {
		t.Errorf("(-docs/abi.md +cases.json):\n%s", diff)
	}
}

// What docs/abi.md offers is imported by a module that returns an answer.
func TestEveryFunctionHasACase(t *testing.T) {
	t.Parallel()
	imported := map[string]bool{}
	exported := map[string]bool{}
	for _, c := range readSet(t).Cases {
		text, err := source(c.Module)
		if err != nil {
			t.Fatal(err)
		}
		answered := slices.ContainsFunc(c.Calls, func(call *call) bool { return call.Want.Answer != "" || c.Module == "wasi-exit" })
		if !answered {
			continue
		}
		for _, m := range regexp.MustCompile(`\(import "(?:wardlet1|wasi_snapshot_preview1)" "(\w+)"`).FindAllStringSubmatch(text, -1) {
			imported[m[1]] = true
		}
		for _, m := range regexp.MustCompile(`\(export "(\w+)"\)`).FindAllStringSubmatch(text, -1) {
			exported[m[1]] = true
		}
	}
	for heading, have := range map[string]map[string]bool{"## Imports of `wardlet1`": imported, "## WASI": imported, "## Exports": exported} {
		all := firstCells(section(t, heading))
		if len(all) == 0 {
			t.Errorf("%s has no table", heading)
		}
		for _, name := range all {
			if !have[name] {
				t.Errorf("%s: no case has %s", heading, name)
			}
		}
	}
}

// answerWords are the words of the cases for those of docs/abi.md.
var answerWords = map[string]string{"that candidate wins": "winner", "keep current": "keep", "reject all": "reject"}

// Every row of the tables of results has a case: an answer, or a failure.
func TestEveryResultHasACase(t *testing.T) {
	t.Parallel()
	s := readSet(t)
	have := map[string]bool{}
	for _, c := range s.sharing("answer") {
		for _, call := range c.Calls {
			q, err := s.question(call)
			if err != nil {
				t.Fatal(err)
			}
			have[string(q.Request.Hook)+" "+call.Want.Answer+call.Want.code()] = true
		}
	}
	row := regexp.MustCompile(`(?m)^\| ([^|\n]+) \| ([^|\n]*)\|(.*)\|$`)
	for _, hook := range []string{"admit", "merge", "filter", "connect"} {
		rows := row.FindAllStringSubmatch(section(t, "### Results of `wardlet_"+hook+"`"), -1)
		if len(rows) < 6 {
			t.Errorf("%d rows of results of %s", len(rows), hook)
		}
		for _, m := range rows {
			word := strings.TrimSpace(m[2])
			if known, ok := answerWords[word]; ok {
				word = known
			}
			if failed := regexp.MustCompile("fails with `(\\w+)`").FindStringSubmatch(m[3]); word == "" && failed != nil {
				word = failed[1]
			}
			if m[1] == "result" || strings.HasPrefix(m[1], "---") {
				continue
			}
			if !have[hook+" "+word] {
				t.Errorf("%s: no case with the result %s, %q", hook, m[1], word)
			}
		}
	}
}

// Every type of value is shown, of fields where fields have it.
func TestEveryTypeOfValueHasACase(t *testing.T) {
	t.Parallel()
	have := map[string]bool{}
	var note func(value any)
	note = func(value any) {
		switch v := value.(type) {
		case nil:
			have["missing"] = true
		case string:
			have["string"] = true
		case bool:
			have["bool"] = true
		case json.Number:
			have[map[bool]string{true: "float", false: "integer"}[strings.Contains(v.String(), ".")]] = true
		case []any:
			have["list"] = true
			for _, element := range v {
				note(element)
			}
		case map[string]any:
			if _, ok := v["@json"]; ok {
				have["JSON"] = true
			} else {
				have["map of strings"] = true
			}
		}
	}
	for _, c := range readSet(t).sharing("record", "setting") {
		for _, call := range c.Calls {
			note(call.Values)
			for _, value := range call.Values {
				note(value)
			}
		}
	}
	for _, row := range regexp.MustCompile(`(?m)^\| (\d) \| ([^|]+) \|`).FindAllStringSubmatch(section(t, "## Values"), -1) {
		if !have[row[2]] {
			t.Errorf("no case shows a value of type %s, %s", row[1], row[2])
		}
		delete(have, row[2])
	}
	if len(have) > 0 {
		t.Errorf("docs/abi.md has no types %v", have)
	}
}

// Every field that docs/abi.md names is shown in a record.
func TestEveryFieldHasACase(t *testing.T) {
	t.Parallel()
	s := readSet(t)
	var paths []string
	for _, c := range s.sharing("record") {
		of, err := s.policy(c)
		if err != nil {
			t.Fatal(err)
		}
		list, _ := of.Settings["paths"].([]any)
		for _, path := range list {
			name, _ := path.(string)
			paths = append(paths, name)
		}
	}
	named := firstCells(section(t, "## Paths"))
	if len(named) < 30 {
		t.Fatalf("docs/abi.md names the fields %q", named)
	}
	for _, field := range named {
		if !slices.ContainsFunc(paths, func(path string) bool { return strings.HasPrefix(path, field) }) {
			t.Errorf("no case shows %s", field)
		}
	}
}

func TestEveryDocumentHasACase(t *testing.T) {
	t.Parallel()
	s := readSet(t)
	have := map[int64]bool{}
	for _, c := range s.sharing("document") {
		of, err := s.policy(c)
		if err != nil {
			t.Fatal(err)
		}
		digits, _ := of.Settings["document"].(json.Number)
		if explained := c.Calls[0].Want.Explanation; explained != "none" {
			have[number(t, digits.String())] = true
		}
	}
	rows := regexp.MustCompile(`(?m)^\| (\d+)( \+ \*i\*)? \|`).FindAllStringSubmatch(section(t, "## Imports of `wardlet1`"), -1)
	if len(rows) < 5 {
		t.Fatalf("docs/abi.md names the documents %q", rows)
	}
	for _, row := range rows {
		n := number(t, row[1])
		if row[2] != "" {
			n++ // one that is not the first
		}
		if !have[n] {
			t.Errorf("no case shows document %d", n)
		}
	}
}

// textBounds are the cases for the rows of bounds of texts: of the bound
// itself, and of what goes beyond.
var textBounds = map[string][]string{
	"code, message, explanation, warnings, annotations (keys and values), patches of one call together": {"text-output-full", "text-output-beyond"},
	"code":                    {"text-code-cut"},
	"message, each warning":   {"text-message-cut", "text-warning-cut"},
	"warnings":                {"text-64-warnings", "text-65-warnings"},
	"annotations":             {"text-64-annotations", "text-65-annotations"},
	"an annotation's key":     {"text-key-253", "text-key-254", "text-key-empty"},
	"a log line":              {"log-cut"},
	"log lines of one plugin": {"log-flood"},
}

func TestEveryBoundOfTextsHasACase(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, c := range readSet(t).Cases {
		names[c.Name] = true
	}
	rows := regexp.MustCompile(`(?m)^\| ([^|\n]+) \| ([^|\n]+) \| ([^|\n]+) \|$`).FindAllStringSubmatch(section(t, "### What becomes of texts"), -1)
	found := 0
	for _, row := range rows {
		if row[1] == "text" || strings.HasPrefix(row[1], "---") {
			continue
		}
		found++
		cases, ok := textBounds[row[1]]
		for _, name := range cases {
			ok = ok && names[name]
		}
		if !ok {
			t.Errorf("%s: the cases are %q", row[1], cases)
		}
	}
	if found != len(textBounds) {
		t.Errorf("%d rows of %d", found, len(textBounds))
	}
}

// What would leave state behind is refused, instruction by instruction.
func TestEveryInstructionThatLeavesStateHasACase(t *testing.T) {
	t.Parallel()
	refused := map[string]bool{}
	for _, c := range readSet(t).Cases {
		refused[c.Module] = c.Refused != nil
	}
	plain := strings.Join(strings.Fields(section(t, "## The module")), " ")
	_, after, _ := strings.Cut(plain, "has state that could not be put back")
	sentence, _, _ := strings.Cut(after, " - ")
	words := regexp.MustCompile("`([a-z0-9.]+)`").FindAllStringSubmatch(sentence, -1)
	if len(words) < 10 {
		t.Fatalf("docs/abi.md names %q", words)
	}
	for _, word := range words {
		name := "state-" + strings.ReplaceAll(word[1], ".", "-")
		if !strings.Contains(word[1], ".") {
			name = "state-global-" + word[1]
		}
		if !refused[name] {
			t.Errorf("no case is refused for %s", word[1])
		}
	}
}

func TestTheSetIsOfTheVersionOfTheSpecification(t *testing.T) {
	t.Parallel()
	s := readSet(t)
	if want := "Version of this document: **" + s.Version + "**"; !strings.Contains(specification(t), want) {
		t.Errorf("docs/abi.md does not say %s", want)
	}
	if !strings.Contains(specification(t), strconv.Itoa(len(s.Cases)/10*10)+" cases") {
		t.Errorf("docs/abi.md does not say that there are some %d cases", len(s.Cases)/10*10)
	}
}
