package decisionlog

import (
	"strconv"
	"strings"
	"time"

	"github.com/wardlet/wardlet/core/api"
)

const (
	// indexedAtLeast is how many of the newest recorded decisions about one owner's pods
	// are known: more than are shown, because held pods are asked about again and again. Up
	// to twice as many may be known, each in some 60 bytes.
	indexedAtLeast = 2048
	// maxRestored is how many records of each owner are read at the start.
	maxRestored = 2 * indexedAtLeast
)

// index has the recorded decisions about one owner's pods, shown or not. It has two
// halves: when the newer one is full it becomes the older one, and the older one is
// dropped.
type index struct {
	newer, older map[indexKey]indexed
	// prefix begins the IDs of all records of the owner.
	prefix string
}

// indexKey is the beginning of a decision's key.
type indexKey [16]byte

// indexed is a recorded decision: its number, the time of its first occurrence in
// nanoseconds of Unix, and its count.
type indexed struct {
	number uint64
	first  int64
	count  int
}

// find returns the entry of a decision.
func (x *index) find(key decisionKey) (known indexed, ok bool) {
	short := indexKey(key[:])
	if known, ok = x.newer[short]; !ok {
		known, ok = x.older[short]
	}
	return known, ok
}

// recall sets ID, First and Count of a known decision.
func (x *index) recall(key decisionKey, d *api.Decision) {
	if known, ok := x.find(key); ok {
		d.ID, d.First = x.prefix+strconv.FormatUint(known.number, 10), time.Unix(0, known.first).In(d.First.Location())
		d.Count += known.count
	}
}

// note adds a decision, if it is recorded and may be equal to another.
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
