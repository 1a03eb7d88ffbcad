package abi

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
	"unsafe"
)

// Bounds of a path.
const (
	MaxPathBytes    = 1024
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

// parsePath reads a path: names with dots between them, each followed by any number
// of ['key'], [0] or [*]. In a key, \' and \\ stand for ' and \. The segments share
// their texts with the path.
func parsePath(text string) ([]segment, error) {
	return new(pathParser).parse(text)
}

// parse reads a path, as parsePath says.
func (p *pathParser) parse(text string) ([]segment, error) {
	if len(text) > MaxPathBytes {
		return p.segments, errPathTooLong
	}
	if !utf8.ValidString(text) {
		return p.segments, errPathNotText
	}
	p.text, p.at, p.most = text, 0, len(p.segments)+maxPathSegments
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
	// most is the largest allowed length of segments.
	most int
	// keys is the buffer for keys with escapes: the unused rest of room, which is
	// large enough for all keys of a path. If keys is nil, each such key gets its
	// own buffer.
	keys, room []byte
	// wrong is the error that parse returned last.
	wrong pathFault
}

// Guests can make the host parse path after path, so errors are made without
// formatting their texts. The text is formatted only when the error is shown.
var (
	errPathTooLong = fmt.Errorf("the path is longer than %d bytes", MaxPathBytes)
	errPathNotText = errors.New("the path is not valid UTF-8")
	errTooLong     = fmt.Errorf("the path has more than %d segments", maxPathSegments)
)

// pathFault is an error in a path, with its place.
type pathFault struct {
	at   int
	what string
}

func (f *pathFault) Error() string {
	return fmt.Sprintf("character %d of the path: %s", f.at+1, f.what)
}

func (p *pathParser) add(s segment) error {
	if len(p.segments) == p.most {
		return errTooLong
	}
	p.segments = append(p.segments, s)
	return nil
}

func (p *pathParser) fault(what string) error {
	p.wrong = pathFault{p.at, what}
	return &p.wrong
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

// bracket reads the rest of a segment after its [.
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
		n, ok := p.number()
		if !ok {
			return p.fault("expected *, an index, or a key in single quotes")
		}
		s.kind, s.index = segmentIndex, n
	}
	if !p.skip(']') {
		return p.fault("expected ]")
	}
	return p.add(s)
}

// number reads digits. ok is false if there are none, or if the number does not fit
// into an i32.
func (p *pathParser) number() (_ int, ok bool) {
	begin, n := p.at, int64(0)
	for p.at < len(p.text) && '0' <= p.text[p.at] && p.text[p.at] <= '9' {
		if n <= math.MaxInt32 {
			n = 10*n + int64(p.text[p.at]-'0')
		}
		p.at++
	}
	return int(n), p.at > begin && n <= math.MaxInt32
}

// quoted reads a key up to its closing quote.
func (p *pathParser) quoted() (string, error) {
	rest := p.text[p.at:]
	for i := range len(rest) { // nearly always there is no escape
		if rest[i] == '\'' {
			p.at += i + 1
			return rest[:i], nil
		}
		if rest[i] == '\\' {
			return p.escaped(i)
		}
	}
	p.at = len(p.text)
	return "", p.fault("the key has no closing quote")
}

// escaped reads a key whose first escape follows after so many plain bytes.
func (p *pathParser) escaped(plain int) (string, error) {
	rest := p.text[p.at:]
	key := p.keys
	if key == nil {
		key = make([]byte, len(rest))
	}
	n := copy(key, rest[:plain])
	for i := plain; i < len(rest); i++ {
		c := rest[i]
		if c == '\'' {
			p.at += i + 1
			if p.keys != nil {
				p.keys = key[n:]
			}
			return unsafe.String(unsafe.SliceData(key), n), nil // these bytes are not written to again
		}
		if c == '\\' {
			if i++; i == len(rest) || rest[i] != '\'' && rest[i] != '\\' {
				p.at += i
				return "", p.fault(`expected ' or \ after \`)
			}
			c = rest[i]
		}
		key[n] = c
		n++
	}
	p.at = len(p.text)
	return "", p.fault("the key has no closing quote")
}
