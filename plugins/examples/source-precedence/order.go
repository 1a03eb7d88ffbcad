package main

import (
	"strings"

	"github.com/wardlet/wardlet/plugins/sdk/glob"
	"github.com/wardlet/wardlet/plugins/sdk/request"
	"github.com/wardlet/wardlet/plugins/sdk/str"
)

// entry is a place of an order: the sources of a kind, all of them or those
// whose name matches.
type entry struct {
	// text is how the settings have it.
	text       string
	kind, name string
}

// parseEntry reads an entry: a kind, perhaps with a colon and a glob of names.
func parseEntry(text string) (e entry, ok bool) {
	kind, name, named := strings.Cut(text, ":")
	if !named {
		name = "*"
	}
	e = entry{text, kind, name}
	known := e.kind == request.File || e.kind == request.HTTP || e.kind == request.API
	return e, known && isName(e.name)
}

// isName reports whether the name of a source can match.
func isName(g string) bool {
	for i := range len(g) {
		switch c := g[i]; {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z', c == '*', c == '-':
		default:
			return false
		}
	}
	return g != ""
}

// order are entries, the best first.
type order struct {
	// namespaces is the glob of those that it is for; empty for all others.
	namespaces string
	entries    []entry
	// text is how messages show it.
	text string
}

// add adds a place. It returns the entry that covers it already, nil if none does.
func (o *order) add(e *entry) (covered *entry) {
	for i := range o.entries {
		if c := &o.entries[i]; c.kind == e.kind && glob.Match(c.name, e.name) {
			return c
		}
	}
	if len(o.entries) > 0 {
		o.text += ", "
	}
	o.entries, o.text = append(o.entries, *e), o.text+e.text
	return nil
}

// rank is the place of a source in the order, counted from 0; the number of
// entries if it is not in it.
func (o *order) rank(kind, source string) int {
	for i := range o.entries {
		if e := &o.entries[i]; str.Equal(e.kind, kind) && glob.Match(e.name, source) {
			return i
		}
	}
	return len(o.entries)
}
