package strict

import (
	"errors"
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"
)

// The TOML decoder recurses over values, takes quadratic time over dotted keys and stores the whole
// path of each key. Documents beyond these limits are refused before they are decoded.
const (
	// maxDepth limits the parts of a dotted key and the nesting of values.
	maxDepth = 32
	// maxPath limits a path, in bytes.
	maxPath = 512
)

// errSyntax ends a scan at invalid TOML. The decoder has the better message.
var errSyntax = errors.New("no valid TOML")

// limitError reports a document beyond maxDepth or maxPath.
type limitError struct {
	line    int
	message string
}

func (e *limitError) Error() string { return e.message }

// scanner finds the line of every key, table and array element of a document. The TOML decoder does
// not report these lines, and those of arrays of tables are wrong.
type scanner struct {
	src  string
	pos  int
	line int
	// lines maps each path to the line where it first appears.
	lines map[string]int
	// last maps the path of an array of tables to the index of its newest
	// element.
	last map[string]int
}

// scan returns the line of every path of a valid document. For an invalid document, it returns the
// paths before the fault, with errSyntax or a *limitError.
func scan(src string) (map[string]int, error) {
	for _, mark := range []string{"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"} {
		if strings.HasPrefix(src, mark) {
			src = src[len(mark):]
			break
		}
	}
	s := &scanner{src: src, line: 1, lines: map[string]int{}, last: map[string]int{}}
	return s.lines, s.document()
}

func (s *scanner) document() error {
	table := ""
	for {
		s.skipLines()
		var err error
		switch {
		case s.pos == len(s.src):
			return nil
		case s.src[s.pos] == '[':
			table, err = s.header()
		default:
			err = s.pair(table, 0)
		}
		if err != nil {
			return err
		}
	}
}

// header reads [table] or [[array]] and returns the path of the table it opens.
func (s *scanner) header() (string, error) {
	array := strings.HasPrefix(s.src[s.pos:], "[[")
	s.pos++
	if array {
		s.pos++
	}
	keys, err := s.key(']')
	if err != nil {
		return "", err
	}
	if array && !s.accept(']') {
		return "", errSyntax
	}
	path, err := s.open("", keys)
	if err != nil || !array {
		return path, err
	}
	i, again := s.last[path]
	if again {
		i++
	}
	s.last[path] = i
	path = joinIndex(path, i)
	return path, s.record(path)
}

// pair reads key = value below table.
func (s *scanner) pair(table string, depth int) error {
	keys, err := s.key('=')
	if err != nil {
		return err
	}
	path, err := s.open(table, keys)
	if err != nil {
		return err
	}
	return s.value(path, depth)
}

// open descends from path through keys, and into the newest element of each array of tables in
// between.
func (s *scanner) open(path string, keys []string) (string, error) {
	for n, key := range keys {
		if i, ok := s.last[path]; ok && n > 0 {
			path = joinIndex(path, i)
		}
		path = joinKey(path, key)
		if err := s.record(path); err != nil {
			return "", err
		}
	}
	return path, nil
}

func (s *scanner) record(path string) error {
	if len(path) > maxPath {
		return &limitError{s.line, fmt.Sprintf("a key longer than %d bytes with the tables around it", maxPath)}
	}
	if _, ok := s.lines[path]; !ok {
		s.lines[path] = s.line
	}
	return nil
}

func (s *scanner) tooDeep() error {
	return &limitError{s.line, fmt.Sprintf("nested deeper than %d levels", maxDepth)}
}

// key reads a dotted key and the byte that ends it.
func (s *scanner) key(end byte) ([]string, error) {
	var keys []string
	for {
		s.skipBlanks()
		part, err := s.keyPart()
		if err != nil {
			return nil, err
		}
		keys = append(keys, part)
		if len(keys) > maxDepth {
			return nil, s.tooDeep()
		}
		s.skipBlanks()
		switch {
		case s.accept('.'):
		case s.accept(end):
			return keys, nil
		default:
			return nil, errSyntax
		}
	}
}

func (s *scanner) keyPart() (string, error) {
	start := s.pos
	switch {
	case s.pos == len(s.src):
		return "", errSyntax
	case s.src[s.pos] == '\'':
		err := s.quoted("'", false)
		return strings.Trim(s.src[start:s.pos], "'"), err
	case s.src[s.pos] == '"':
		if err := s.quoted(`"`, true); err != nil {
			return "", err
		}
		raw := s.src[start:s.pos]
		if !strings.Contains(raw, `\`) {
			return strings.Trim(raw, `"`), nil
		}
		var v struct{ K string }
		_, err := decodeTOML("K="+raw, &v)
		return v.K, err
	}
	for s.pos < len(s.src) && bareKey.MatchString(s.src[s.pos:s.pos+1]) {
		s.pos++
	}
	if s.pos == start {
		return "", errSyntax
	}
	return s.src[start:s.pos], nil
}

// value skips a value and records the paths in it.
func (s *scanner) value(path string, depth int) error {
	if depth > maxDepth {
		return s.tooDeep()
	}
	s.skipBlanks()
	rest := s.src[s.pos:]
	switch {
	case strings.HasPrefix(rest, `"""`):
		return s.quoted(`"""`, true)
	case strings.HasPrefix(rest, "'''"):
		return s.quoted("'''", false)
	case strings.HasPrefix(rest, `"`):
		return s.quoted(`"`, true)
	case strings.HasPrefix(rest, "'"):
		return s.quoted("'", false)
	case strings.HasPrefix(rest, "["):
		n := -1
		return s.list(']', func() error {
			n++
			element := joinIndex(path, n)
			if err := s.record(element); err != nil {
				return err
			}
			return s.value(element, depth+1)
		})
	case strings.HasPrefix(rest, "{"):
		return s.list('}', func() error { return s.pair(path, depth+1) })
	}
	n := strings.IndexAny(rest, ",]}#\n")
	if n < 0 {
		n = len(rest)
	}
	if strings.TrimSpace(rest[:n]) == "" {
		return errSyntax
	}
	s.pos += n
	return nil
}

// list reads an array or inline table: items parted by commas up to end.
func (s *scanner) list(end byte, item func() error) error {
	s.pos++
	for {
		s.skipLines()
		if s.accept(end) {
			return nil
		}
		if err := item(); err != nil {
			return err
		}
		s.skipLines()
		if !s.accept(',') {
			if s.accept(end) {
				return nil
			}
			return errSyntax
		}
	}
}

// quoted skips a string. A string with three quotes may contain newlines, and one or two quotes
// directly before its end.
func (s *scanner) quoted(quote string, escapes bool) error {
	s.pos += len(quote)
	for s.pos < len(s.src) {
		c := s.src[s.pos]
		switch {
		case c == '\n':
			if len(quote) == 1 {
				return errSyntax
			}
			s.line++
		case c == '\\' && escapes:
			s.pos++
			if s.pos < len(s.src) && s.src[s.pos] == '\n' {
				s.line++
			}
		case strings.HasPrefix(s.src[s.pos:], quote):
			s.pos += len(quote)
			for n := 0; n < 2 && len(quote) == 3 && s.accept(quote[0]); n++ {
			}
			return nil
		}
		s.pos++
	}
	return errSyntax
}

func (s *scanner) accept(c byte) bool {
	if s.pos < len(s.src) && s.src[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

func (s *scanner) skipBlanks() {
	for s.accept(' ') || s.accept('\t') {
	}
}

// skipLines skips blanks, newlines and comments.
func (s *scanner) skipLines() {
	for s.pos < len(s.src) {
		switch s.src[s.pos] {
		case ' ', '\t', '\r':
		case '\n':
			s.line++
		case '#':
			n := strings.IndexByte(s.src[s.pos:], '\n')
			if n < 0 {
				s.pos = len(s.src)
				return
			}
			s.pos += n
			continue
		default:
			return
		}
		s.pos++
	}
}

// decodeTOML is toml.Decode, but returns an error instead of a panic.
func decodeTOML(src string, into any) (md toml.MetaData, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the TOML decoder gave up: %v", p)
		}
	}()
	return toml.Decode(src, into)
}
