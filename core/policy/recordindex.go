package policy

import (
	"container/list"
	"time"

	"github.com/wardlet/wardlet/core/pod"
)

const (
	// maxIndexed is how many decisions about one owner's pods are known to be on record,
	// by some 200 bytes each: more than are shown, as pods that are held are asked about
	// again and again.
	maxIndexed = 16384
	// maxRestored is how many of each owner's are read at the start: all of them are in
	// memory at once then.
	maxRestored = 4096
)

// recordIndex are the decisions about one owner's pods that are on record, shown or
// not. Where there are too many, that one goes which was made again longest ago.
type recordIndex struct {
	known map[decisionKey]*list.Element
	order list.List
}

// indexed is what is known of a decision on record.
type indexed struct {
	key   decisionKey
	id    string
	first time.Time
	count int
}

// find gives what is known of a decision, nil for nothing.
func (x *recordIndex) find(key decisionKey) *indexed {
	if e := x.known[key]; e != nil {
		return e.Value.(*indexed) // nothing else is in the list
	}
	return nil
}

// note takes a decision in, if it is on record and may be equal to another.
func (x *recordIndex) note(key decisionKey, d *pod.Decision) {
	if d.ID == "" || key == (decisionKey{}) {
		return
	}
	if x.known == nil {
		x.known = map[decisionKey]*list.Element{}
	}
	e := x.known[key]
	if e == nil {
		e = x.order.PushBack(&indexed{key: key})
		x.known[key] = e
	}
	x.order.MoveToBack(e)
	one := x.find(key)
	one.id, one.first, one.count = d.ID, d.First, d.Count
	if len(x.known) > maxIndexed {
		oldest := x.order.Remove(x.order.Front()).(*indexed)
		delete(x.known, oldest.key)
	}
}
