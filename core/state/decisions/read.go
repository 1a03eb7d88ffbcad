package decisions

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/wardlet/wardlet/core/state/durable"
)

// Newest reads the newest records of each owner's pods, at most the given number of each, with the
// number of their repetitions, ordered by Last, the newest last. The error names files that cannot
// be read; the other records are returned nevertheless.
func (l *Log) Newest(most int) ([]Record, error) {
	var all []Record
	var errs []error
	paths := l.paths()
	for _, tenant := range slices.Sorted(maps.Keys(paths)) {
		some, err := newest(paths[tenant], most)
		all, errs = append(all, some...), append(errs, err)
	}
	slices.SortStableFunc(all, func(a, b Record) int { return a.Last.Compare(b.Last) })
	return all, errors.Join(errs...)
}

// paths returns the segments of each owner, the oldest first.
func (l *Log) paths() map[string][]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := map[string][]string{}
	for tenant, o := range l.owners {
		for _, s := range o.segments {
			all[tenant] = append(all[tenant], s.path)
		}
	}
	return all
}

// newest reads segments, beginning with the last one, until there are enough records.
func newest(paths []string, most int) ([]Record, error) {
	var all []Record
	counts := map[string]Count{}
	for _, path := range slices.Backward(paths) {
		text, err := durable.Read(path)
		if errors.Is(err, os.ErrNotExist) {
			break // it was removed to make room
		}
		if err != nil {
			return all, err
		}
		var some []Record
		eachLine(text, func(one line) {
			switch one.kind {
			case lineRecord:
				var r Record
				if json.Unmarshal(one.body, &r) == nil && r.ID != "" {
					some = append(some, r)
				}
			case lineCount:
				var c Count
				if json.Unmarshal(one.body, &c) == nil && counts[c.ID].Count < c.Count {
					counts[c.ID] = c
				}
			}
		})
		all = slices.Concat(some, all)
		if len(all) >= most {
			break
		}
	}
	all = all[max(0, len(all)-most):]
	for i := range all {
		r := &all[i]
		if c, ok := counts[r.ID]; ok && c.Count > r.Count {
			r.Count, r.Last = c.Count, c.Last
		}
	}
	return all, nil
}

// Input reads the document with this digest that records of one owner's pods name, as JSON, and
// checks the digest.
func (l *Log) Input(tenant, digest string) ([]byte, error) {
	for _, path := range slices.Backward(l.paths()[tenant]) {
		text, err := durable.Read(path)
		if errors.Is(err, os.ErrNotExist) {
			continue // it was removed to make room
		}
		if err != nil {
			return nil, err
		}
		var found []byte
		eachLine(text, func(one line) {
			if found == nil && one.kind == lineInput && one.digest == digest {
				found = one.body
			}
		})
		if found != nil && digestOf(found) == digest {
			return found, nil
		}
	}
	return nil, fmt.Errorf("the document %s is not on record any more", digest)
}

// eachLine calls each for every valid line of a text.
func eachLine(text []byte, each func(line)) {
	for len(text) > 0 {
		one, rest, err := cutLine(text)
		if err == nil {
			each(one)
		}
		text = rest
	}
}
