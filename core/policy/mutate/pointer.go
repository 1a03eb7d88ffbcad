package mutate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	// maxPointer is the longest JSON pointer, in bytes. maxTokens is its largest
	// number of elements; no field of a pod needs 20.
	maxPointer = 2 << 10
	maxTokens  = 32
)

// pointer is a JSON pointer (RFC 6901), as elements without escapes. The empty
// pointer is the whole document.
type pointer []string

func parsePointer(text string) (pointer, error) {
	switch {
	case len(text) > maxPointer:
		return nil, fmt.Errorf("it has %d bytes, more than the %d a path may have", len(text), maxPointer)
	case text == "":
		return nil, nil
	case text[0] != '/':
		return nil, errors.New(`a JSON pointer begins with "/"`)
	}
	tokens := strings.Split(text[1:], "/")
	if len(tokens) > maxTokens {
		return nil, fmt.Errorf("it has %d elements, more than the %d a path may have", len(tokens), maxTokens)
	}
	for i, token := range tokens {
		if !escaped(token) {
			return nil, errors.New(`in a JSON pointer "~" must be followed by 0 or 1: "~0" stands for "~", "~1" for "/"`)
		}
		tokens[i] = decode.Replace(token)
	}
	return tokens, nil
}

// escaped reports whether every "~" of an element begins an escape.
func escaped(token string) bool {
	for i := range len(token) {
		if token[i] == '~' && (i+1 == len(token) || token[i+1] != '0' && token[i+1] != '1') {
			return false
		}
	}
	return true
}

// String returns the pointer with its escapes.
func (p pointer) String() string {
	var b strings.Builder
	for _, token := range p {
		b.WriteByte('/')
		b.WriteString(encode.Replace(token))
	}
	return b.String()
}

// child returns the pointer to a member of the value that p points to. It shares no
// memory with other children of p.
func (p pointer) child(token string) pointer { return append(slices.Clip(p), token) }

var (
	encode = strings.NewReplacer("~", "~0", "/", "~1")
	decode = strings.NewReplacer("~0", "~", "~1", "/")
)
