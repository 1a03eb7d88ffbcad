package main

import (
	"strings"

	"github.com/wardlet/wardlet/plugins/sdk/glob"
	"github.com/wardlet/wardlet/plugins/sdk/request"
	"github.com/wardlet/wardlet/plugins/sdk/str"
)

// entry is an entry of an order. It matches all sources of a kind, or those of a kind whose
// name matches a glob.
type entry struct {
	// text is the entry as written in the settings.
	text       string
	kind, name string
}

// parseEntry parses an entry: a kind, or a kind, a colon and a glob of names.
func parseEntry(text string) (e entry, ok bool) {
	kind, name, named := strings.Cut(text, ":")
	if !named {
		name = "*"
	}
	e = entry{text, kind, name}
	known := e.kind == request.File || e.kind == request.HTTP || e.kind == request.API
	return e, known && isName(e.name)
}

// isName reports whether the glob g can match the name of a source.
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

// order is a list of entries, the best first.
type order struct {
	// namespaces is a glob of the namespaces to which the order applies. It is empty for
	// the usual order.
	namespaces string
	entries    []entry
	// text is the order as messages show it.
	text string
}

// add appends an entry. If an earlier entry already matches all sources of e, add returns
// the earlier entry, else nil.
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

// rank returns the position of a source in the order, from 0. It is the number of entries
// if the source is not in the order.
func (o *order) rank(kind, source string) int {
	for i := range o.entries {
		if e := &o.entries[i]; str.Equal(e.kind, kind) && glob.Match(e.name, source) {
			return i
		}
	}
	return len(o.entries)
}
