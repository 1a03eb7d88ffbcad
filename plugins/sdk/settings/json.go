package settings

import "unicode/utf8"

// kind is the kind of a JSON value.
type kind byte

const (
	invalid kind = iota
	null
	boolean
	number
	str
	array
	object
)

// value is a JSON value that was read. Of an array or object, only the opening bracket was
// read.
type value struct {
	kind kind
	// text is the content of a string. For a number, true, false or null it is the text in
	// the JSON.
	text string
	// float reports whether the value is a number with a point or an exponent.
	float bool
}

// name returns the name of the kind of a value, in the words of policy documents.
func (v value) name() string {
	switch v.kind {
	case boolean:
		return "a bool"
	case number:
		if v.float {
			return "a float"
		}
		return "an integer"
	case str:
		return "a string"
	case array:
		return "a list"
	case object:
		return "a table"
	}
	return "nothing"
}

// parser parses JSON. The agent wrote the JSON, so the parser does not describe errors:
// after an error, all values are invalid.
type parser struct {
	text string
	at   int
	torn bool
}

func (p *parser) tear() value {
	p.torn, p.at = true, len(p.text)
	return value{}
}

// peek returns the next character that is not white space, 0 at the end. It is not inlined,
// which makes plugins smaller.
//
//go:noinline
func (p *parser) peek() byte {
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// take reads the character c if it is the next, and reports whether it was.
func (p *parser) take(c byte) bool {
	if p.peek() != c || c == 0 {
		return false
	}
	p.at++
	return true
}

// next reads a value, or the opening bracket of an array or object.
func (p *parser) next() value {
	switch p.peek() {
	case '"':
		return p.quoted()
	case '[':
		p.at++
		return value{kind: array}
	case '{':
		p.at++
		return value{kind: object}
	}
	begin := p.at
	float := false
scan:
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '.' || c == 'e' || c == 'E':
			float = true
		case c == '-' || c == '+' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z':
		default:
			break scan
		}
	}
	switch text := p.text[begin:p.at]; {
	case text == "true" || text == "false":
		return value{kind: boolean, text: text}
	case text == "null":
		return value{kind: null, text: text}
	case text != "" && (text[0] == '-' || '0' <= text[0] && text[0] <= '9'):
		return value{number, text, float}
	}
	return p.tear()
}

// element reports whether there is another element of the array whose bracket
// or element was read last.
func (p *parser) element(first bool) bool { return p.more(first, ']') }

// member returns the name of the next member of an object.
func (p *parser) member(first bool) (name string, ok bool) {
	if !p.more(first, '}') {
		return "", false
	}
	v := p.next()
	if v.kind != str || !p.take(':') {
		p.tear()
		return "", false
	}
	return v.text, true
}

func (p *parser) more(first bool, end byte) bool {
	switch {
	case p.take(end):
		return false
	case !first && !p.take(','), p.peek() == 0:
		p.tear()
		return false
	}
	return true
}

// skip reads on to the end of a value.
func (p *parser) skip(v value) {
	switch v.kind {
	case array:
		for more := p.element(true); more; more = p.element(false) {
			p.skip(p.next())
		}
	case object:
		for _, ok := p.member(true); ok; _, ok = p.member(false) {
			p.skip(p.next())
		}
	}
}

// quoted reads a string.
func (p *parser) quoted() value {
	p.at++
	begin := p.at
	for ; p.at < len(p.text); p.at++ {
		switch p.text[p.at] {
		case '"':
			p.at++
			return value{kind: str, text: p.text[begin : p.at-1]}
		case '\\':
			return p.escaped(append([]byte(nil), p.text[begin:p.at]...))
		}
	}
	return p.tear()
}

// escapes are the characters that may follow a backslash, and the characters that they
// stand for.
const (
	escapes = `"\/bfnrt`
	meaning = "\"\\/\b\f\n\r\t"
)

// escaped reads the rest of a string that contains a backslash.
func (p *parser) escaped(b []byte) value {
	for p.at < len(p.text) {
		c := p.text[p.at]
		p.at++
		switch {
		case c == '"':
			return value{kind: str, text: string(b)}
		case c != '\\':
			b = append(b, c)
		case p.at < len(p.text) && p.text[p.at] == 'u':
			b = utf8.AppendRune(b, p.unicode())
		default:
			known := false
			for i := range len(escapes) {
				if p.at < len(p.text) && p.text[p.at] == escapes[i] {
					b, known = append(b, meaning[i]), true
				}
			}
			if !known {
				return p.tear()
			}
			p.at++
		}
	}
	return p.tear()
}

// unicode reads the u and the four digits of an escape. If it is the first half of a
// surrogate pair, it also reads the second.
func (p *parser) unicode() rune {
	high := p.hex()
	if high < 0xd800 || high > 0xdfff {
		return high
	}
	if high < 0xdc00 && p.at+1 < len(p.text) && p.text[p.at] == '\\' && p.text[p.at+1] == 'u' {
		alone := p.at
		p.at++
		if low := p.hex(); 0xdc00 <= low && low <= 0xdfff {
			return 0x10000 + (high-0xd800)<<10 + low - 0xdc00
		}
		if !p.torn {
			p.at = alone
		}
	}
	return utf8.RuneError
}

func (p *parser) hex() (r rune) {
	p.at++
	for range 4 {
		if p.at >= len(p.text) {
			p.tear()
			return 0
		}
		c := p.text[p.at]
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			p.tear()
			return 0
		}
		r = r<<4 | rune(c)
		p.at++
	}
	return r
}
