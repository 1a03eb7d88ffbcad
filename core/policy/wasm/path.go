package wasm

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds of a path.
const (
	maxPathBytes    = 1024
	maxPathSegments = 32
)

type segmentKind uint8

const (
	segmentField segmentKind = iota // .name
	segmentKey                      // ['key']
	segmentIndex                    // [0]
	segmentEach                     // [*]
)

// segment is one step of a path.
type segment struct {
	kind  segmentKind
	name  string // of a field or key
	index int
}

// parsePath reads a path: names with dots between them, each followed by any
// number of ['key'], [0] or [*]. In a key \' and \\ stand for ' and \. The
// segments are appended to room, and share their texts with the path; it is given
// back with an error, too.
func parsePath(room []segment, text string) ([]segment, error) {
	if len(text) > maxPathBytes {
		return room, fmt.Errorf("the path is longer than %d bytes", maxPathBytes)
	}
	if !utf8.ValidString(text) {
		return room, errors.New("the path is not valid UTF-8")
	}
	p := pathParser{text: text, segments: room, most: len(room) + maxPathSegments}
	for {
		if err := p.field(); err != nil {
			return p.segments, err
		}
		for p.skip('[') {
			if err := p.bracket(); err != nil {
				return p.segments, err
			}
		}
		if p.at == len(text) {
			return p.segments, nil
		}
		if !p.skip('.') {
			return p.segments, p.fault("expected a dot")
		}
	}
}

type pathParser struct {
	text     string
	at       int
	segments []segment
	// most is how many segments there may be.
	most int
}

var errTooLong = fmt.Errorf("the path has more than %d segments", maxPathSegments)

func (p *pathParser) add(s segment) error {
	if len(p.segments) == p.most {
		return errTooLong
	}
	p.segments = append(p.segments, s)
	return nil
}

func (p *pathParser) fault(what string) error {
	return fmt.Errorf("character %d of the path: %s", p.at+1, what)
}

func (p *pathParser) skip(c byte) bool {
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *pathParser) field() error {
	begin := p.at
	p.skip('@')
	for p.at < len(p.text) && isNameByte(p.text[p.at]) {
		p.at++
	}
	if name := p.text[begin:p.at]; name != "" && name != "@" {
		return p.add(segment{kind: segmentField, name: name})
	}
	return p.fault("expected a name")
}

func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}

// bracket reads what follows a [.
func (p *pathParser) bracket() error {
	s := segment{}
	switch {
	case p.skip('*'):
		s.kind = segmentEach
	case p.skip('\''):
		key, err := p.quoted()
		if err != nil {
			return err
		}
		s.kind, s.name = segmentKey, key
	default:
		begin := p.at
		for p.at < len(p.text) && '0' <= p.text[p.at] && p.text[p.at] <= '9' {
			p.at++
		}
		n, err := strconv.ParseInt(p.text[begin:p.at], 10, 32)
		if err != nil {
			return p.fault("expected *, an index, or a key in single quotes")
		}
		s.kind, s.index = segmentIndex, int(n)
	}
	if !p.skip(']') {
		return p.fault("expected ]")
	}
	return p.add(s)
}

// quoted reads a key up to its closing quote.
func (p *pathParser) quoted() (string, error) {
	if end := strings.IndexAny(p.text[p.at:], `'\`); end >= 0 && p.text[p.at+end] == '\'' { // nearly always
		key := p.text[p.at : p.at+end]
		p.at += end + 1
		return key, nil
	}
	var key strings.Builder
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; c {
		case '\'':
			p.at++
			return key.String(), nil
		case '\\':
			p.at++
			if p.at == len(p.text) || p.text[p.at] != '\'' && p.text[p.at] != '\\' {
				return "", p.fault(`expected ' or \ after \`)
			}
			key.WriteByte(p.text[p.at])
		default:
			key.WriteByte(c)
		}
	}
	return "", p.fault("the key has no closing quote")
}
