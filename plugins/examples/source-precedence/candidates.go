package main

import "github.com/wardlet/wardlet/plugins/sdk"

// candidate is a document that claims the pod.
type candidate struct {
	kind, source, document string
	running, restored      bool
	// rank is the position of the candidate's source in the order, from 0.
	rank int
}

// candidates iterates over all candidates, in the agent's order.
type candidates struct{ kinds, sources, documents, running, restored sdk.Cursor }

func all() candidates {
	return candidates{kinds.Cursor(), sources.Cursor(), documents.Cursor(), running.Cursor(), restored.Cursor()}
}

// next returns the next candidate, with its rank in o, and false after the last.
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

// maxDocument is the most bytes of a document's name in an explanation.
const maxDocument = 200

// name adds the name of the candidate to a text.
func (c *candidate) name(t *sdk.Text) {
	document := c.document
	if len(document) > maxDocument {
		document = sdk.Concat(document[:maxDocument], "…")
	}
	t.Add(c.kind, ":", c.source, " ", document)
}
