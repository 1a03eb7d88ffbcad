package decisionlog

import (
	"strconv"
	"strings"
	"time"

	"github.com/wardlet/wardlet/core/api"
)

const (
	// indexedAtLeast is how many decisions about one owner's pods are known to be on
	// record, those that were made last: more than are shown, as pods that are held are
	// asked about again and again. It may be twice as many, by some 60 bytes each.
	indexedAtLeast = 2048
	// maxRestored is how many of each owner's are read at the start.
	maxRestored = 2 * indexedAtLeast
)

// index are the decisions about one owner's pods that are on record, shown or
// not. They are in two halves: where the newer one is full it becomes the older one,
// and what was in that and not made again since is forgotten.
type index struct {
	newer, older map[indexKey]indexed
	// prefix begins the IDs of all records of the owner, before their numbers.
	prefix string
}

// indexKey is enough of a decision's key.
type indexKey [16]byte

// indexed is what is known of a decision on record: its number, when it was made first,
// in nanoseconds of Unix, and how often.
type indexed struct {
	number uint64
	first  int64
	count  int
}

// find gives what is known of a decision.
func (x *index) find(key decisionKey) (known indexed, ok bool) {
	short := indexKey(key[:])
	if known, ok = x.newer[short]; !ok {
		known, ok = x.older[short]
	}
	return known, ok
}

// recall puts what is known of a decision into it.
func (x *index) recall(key decisionKey, d *api.Decision) {
	if known, ok := x.find(key); ok {
		d.ID, d.First = x.prefix+strconv.FormatUint(known.number, 10), time.Unix(0, known.first).In(d.First.Location())
		d.Count += known.count
	}
}

// note takes a decision in, if it is on record and may be equal to another.
func (x *index) note(key decisionKey, d *api.Decision) {
	at := strings.LastIndexByte(d.ID, '-') + 1
	number, err := strconv.ParseUint(d.ID[at:], 10, 64)
	if err != nil || key == (decisionKey{}) {
		return
	}
	x.prefix = d.ID[:at]
	if len(x.newer) >= indexedAtLeast {
		x.newer, x.older = nil, x.newer
	}
	if x.newer == nil {
		x.newer = map[indexKey]indexed{}
	}
	x.newer[indexKey(key[:])] = indexed{number, d.First.UnixNano(), d.Count}
}
