package projection

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of a path.
const (
	maxPathBytes = 1024
	maxSegments  = 32
)

type segmentKind byte

const (
	segmentField segmentKind = iota
	segmentKey
	segmentIndex
	segmentEach
)

// Segment is one step of a path.
type Segment struct {
	kind  segmentKind
	name  string
	index int
}

// Name returns the name of a field or the key, and false for an index or [*].
func (s Segment) Name() (name string, ok bool) {
	return s.name, s.kind == segmentField || s.kind == segmentKey
}

// ParsePath parses names with dots between them, each followed by any number of ['key'],
// [0] or [*]. In a key \' and \\ stand for ' and \.
func ParsePath(text string) ([]Segment, error) {
	switch {
	case len(text) > maxPathBytes:
		return nil, fmt.Errorf("the path is longer than %d bytes", maxPathBytes)
	case !utf8.ValidString(text):
		return nil, errors.New("the path is not valid UTF-8")
	}
	var segments []Segment
	rest := text
	fault := func(want string) error {
		return fmt.Errorf("character %d of the path: expected %s", len(text)-len(rest)+1, want)
	}
	for {
		length := nameLength(rest)
		if length == 0 {
			return nil, fault("a name")
		}
		segments = append(segments, Segment{kind: segmentField, name: rest[:length]})
		rest = rest[length:]
		for strings.HasPrefix(rest, "[") {
			s, after, err := cutBracket(rest)
			if err != nil {
				return nil, fault(err.Error())
			}
			segments = append(segments, s)
			rest = after
		}
		if len(segments) > maxSegments {
			return nil, fmt.Errorf("the path has more than %d segments", maxSegments)
		}
		if rest == "" {
			return segments, nil
		}
		if rest[0] != '.' {
			return nil, fault("a dot")
		}
		rest = rest[1:]
	}
}

// nameLength returns the length of the name at the beginning of s, 0 if there is none.
func nameLength(s string) int {
	n := 0
	if strings.HasPrefix(s, "@") {
		n = 1
	}
	begin := n
	for n < len(s) && (s[n] == '_' || s[n] == '-' || '0' <= s[n] && s[n] <= '9' ||
		'a' <= s[n] && s[n] <= 'z' || 'A' <= s[n] && s[n] <= 'Z') {
		n++
	}
	if n == begin {
		return 0
	}
	return n
}

var errBracket = errors.New("[*], an index, or a key in single quotes")

// cutBracket splits off the [...] at the beginning of s.
func cutBracket(s string) (segment Segment, rest string, err error) {
	if rest, ok := strings.CutPrefix(s, "[*]"); ok {
		return Segment{kind: segmentEach}, rest, nil
	}
	if strings.HasPrefix(s, "['") {
		return cutKey(s[2:])
	}
	digits, rest, ok := strings.Cut(s[1:], "]")
	if !ok || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return Segment{}, "", errBracket
	}
	n, err := strconv.ParseInt(digits, 10, 32)
	if err != nil {
		return Segment{}, "", errBracket
	}
	return Segment{kind: segmentIndex, index: int(n)}, rest, nil
}

// cutKey splits off a key with its closing quote and bracket.
func cutKey(s string) (segment Segment, rest string, err error) {
	var key strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\'':
			rest, ok := strings.CutPrefix(s[i+1:], "]")
			if !ok {
				return Segment{}, "", errors.New("] after the key")
			}
			return Segment{kind: segmentKey, name: key.String()}, rest, nil
		case c != '\\':
			key.WriteByte(c)
		case i+1 < len(s) && (s[i+1] == '\'' || s[i+1] == '\\'):
			i++
			key.WriteByte(s[i])
		default:
			return Segment{}, "", errors.New(`' or \ after \ in the key`)
		}
	}
	return Segment{}, "", errors.New("a closing quote")
}
