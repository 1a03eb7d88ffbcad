package attack

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// headerLine matches the comments with which a source begins. A line of the form "word: value" is
// one of these; other lines describe the module:
//
//	refused: CODE part of the text    when it is loaded
//	ends: CODE part of the text       when it is asked about the image "attack"
//	answers: ANSWER part of the text  the same, with an answer
//	IMAGE ends: …, IMAGE answers: …   when it is asked about another image
//	merge …, filter …                 any of these for another hook than admit
//	candidates: N                     for the hook merge; default 3
//	pages: N                          memory_pages; default 4
//	fuel: N                           default 2 000 000
//	output: N                         output_bytes; default 65536
//	features: NAME …                  wat2wasm must enable these; no-check: do not validate
var headerLine = regexp.MustCompile(`^(?:(merge|filter) )?(?:([a-z]+) )?(refused|ends|answers|candidates|pages|fuel|output|features): (.*)$`)

// The defaults for modules whose source does not set them.
const (
	defaultPages      = 4
	defaultFuel       = 2_000_000
	defaultOutput     = 64 << 10
	defaultImage      = "attack"
	defaultCandidates = 3
)

// codes are the codes of failures that a module may end with.
var codes = []abi.FailureCode{
	abi.FuelExhausted, abi.Trap, abi.MemoryLimit, abi.StackLimit, abi.BadOutput, abi.HostDenied, abi.AbiMismatch,
	abi.InputTooLarge, abi.PluginError,
}

// answers match the answers of a hook as expectations name them: a winner with its index, and a
// deferred update with its delay.
var answers = map[abi.Hook]*regexp.Regexp{
	abi.HookAdmit:  regexp.MustCompile("^(allow|deny|hold|abstain)$"),
	abi.HookMerge:  regexp.MustCompile("^(winner-[0-9]+|keep|reject|abstain)$"),
	abi.HookFilter: regexp.MustCompile("^(pass|drop|defer-[0-9hms.]+|abstain)$"),
}

// parseHeader parses the comments with which a source begins. The returned module has no binary
// yet.
func parseHeader(name, source string) (*Module, error) {
	m := &Module{Name: name, pages: defaultPages, fuel: defaultFuel, output: defaultOutput, candidates: defaultCandidates}
	for line := range strings.Lines(source) {
		line, ok := strings.CutPrefix(strings.TrimSpace(line), ";;")
		if !ok {
			break
		}
		if err := m.headerLine(strings.TrimSpace(line)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	switch {
	case m.What == "":
		return nil, fmt.Errorf("%s: the source does not begin with a comment that says what it does", name)
	case m.Refused == nil && len(m.Questions) == 0:
		return nil, fmt.Errorf("%s: the source does not say how it must end: refused, ends or answers", name)
	case m.Refused != nil && len(m.Questions) > 0:
		return nil, fmt.Errorf("%s: what must be refused cannot be asked", name)
	}
	return m, nil
}

func (m *Module) headerLine(line string) error {
	part := headerLine.FindStringSubmatch(line)
	if part == nil {
		m.What = strings.TrimSpace(m.What + " " + line)
		return nil
	}
	hook, image, word, value := abi.Hook(part[1]), part[2], part[3], part[4]
	if image != "" && word != "ends" && word != "answers" {
		return fmt.Errorf("%q: only ends and answers are of an image", line)
	}
	if hook != "" && word != "ends" && word != "answers" && word != "refused" {
		return fmt.Errorf("%q: only refused, ends and answers are of a hook", line)
	}
	hook, image = cmp.Or(hook, abi.HookAdmit), cmp.Or(image, defaultImage)
	number, notANumber := strconv.ParseUint(value, 10, 31)
	switch word {
	case "pages":
		m.pages = uint32(number)
	case "fuel":
		m.fuel = int64(number)
	case "candidates":
		m.candidates = int(number)
	case "output":
		m.output = int(number)
	case "features":
		m.features, notANumber = strings.Fields(value), nil
	default:
		notANumber = nil
		want, err := parseExpectation(hook, word, value)
		if err != nil {
			return fmt.Errorf("%q: %w", line, err)
		}
		if word == "refused" {
			m.Refused, m.named = &want, hook
		} else {
			m.Questions = append(m.Questions, Question{Hook: hook, Image: image, Want: want})
		}
	}
	if notANumber != nil {
		return fmt.Errorf("%q: %w", line, notANumber)
	}
	return nil
}

func parseExpectation(hook abi.Hook, word, value string) (e Expectation, err error) {
	first, part, _ := strings.Cut(value, " ")
	e.Part = part
	if word == "answers" {
		if e.Answer = first; !answers[hook].MatchString(first) {
			return e, fmt.Errorf("no answer of the hook %s: %q", hook, first)
		}
		return e, nil
	}
	if e.Code = abi.FailureCode(first); !slices.Contains(codes, e.Code) {
		return e, fmt.Errorf("no code of a failure: %q", first)
	}
	if part == "" {
		return e, errors.New("a part of the failure's text must follow its code")
	}
	return e, nil
}
