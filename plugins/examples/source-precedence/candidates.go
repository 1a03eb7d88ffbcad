package main

import "github.com/wardlet/wardlet/plugins/sdk"

// candidate is one of the documents that claim the pod.
type candidate struct {
	kind, source, document string
	running, restored      bool
	// rank is the place of its source in the order, counted from 0.
	rank int
}

// candidates goes through all of them, in the agent's order.
type candidates struct{ kinds, sources, documents, running, restored sdk.Cursor }

func all() candidates {
	return candidates{kinds.Cursor(), sources.Cursor(), documents.Cursor(), running.Cursor(), restored.Cursor()}
}

// next is the next one, with its rank in o; false after the last.
func (l *candidates) next(o *order) (c candidate, ok bool) {
	kind, ok := l.kinds.Next()
	if !ok {
		return c, false
	}
	c.kind, c.source, c.document = kind.String(), l.sources.Take().String(), l.documents.Take().String()
	c.running, c.restored = l.running.Take().Bool(), l.restored.Take().Bool()
	c.rank = o.rank(c.kind, c.source)
	return c, true
}

// maxDocument bounds what is said of a document's name.
const maxDocument = 200

// name is what texts call the candidate.
func (c *candidate) name(t *sdk.Text) {
	document := c.document
	if len(document) > maxDocument {
		document = sdk.Concat(document[:maxDocument], "…")
	}
	t.Add(c.kind, ":", c.source, " ", document)
}
