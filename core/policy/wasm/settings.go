package wasm

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// settings are the [settings] of a policy in the types that TOML decodes to.
type settings struct{ root *settingTable }

// settingTable is a table of settings, sorted by key. Its values are strings,
// bools, int64, finite float64, *settingTable, and []any of them.
type settingTable struct {
	entries []settingEntry
	// places are the indexes of entries, by key.
	places map[string]int
	// texts: all values are strings.
	texts bool
}

type settingEntry struct {
	key   string
	value any
}

// checkedSettings returns a copy of the settings in the types that record and JSON
// support.
func checkedSettings(table map[string]any) (settings, error) {
	root, err := checkTable("settings", table)
	return settings{root}, err
}

func checkTable(path string, table map[string]any) (*settingTable, error) {
	checked := &settingTable{texts: true, places: make(map[string]int, len(table))}
	var faults []error
	for _, key := range slices.Sorted(maps.Keys(table)) {
		value, err := checkSetting(path+"."+key, table[key])
		if _, ok := value.(string); !ok {
			checked.texts = false
		}
		checked.places[key] = len(checked.entries)
		checked.entries = append(checked.entries, settingEntry{key, value})
		faults = append(faults, err)
	}
	return checked, errors.Join(faults...)
}

func checkSetting(path string, value any) (any, error) {
	switch v := value.(type) {
	case string, bool, int64:
		return v, nil
	case int:
		return int64(v), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%s: %v is not supported in this version: write a finite number", path, v)
		}
		return v, nil
	case time.Time:
		return v.Format(time.RFC3339Nano), nil
	case map[string]any:
		return checkTable(path, v)
	case []map[string]any:
		return checkList(path, v)
	case []any:
		return checkList(path, v)
	}
	return nil, fmt.Errorf("%s: a value of type %T is not supported in this version", path, value)
}

func checkList[T any](path string, list []T) (any, error) {
	checked := make([]any, len(list))
	var faults []error
	for i := range list {
		value, err := checkSetting(fmt.Sprintf("%s[%d]", path, i), list[i])
		checked[i] = value
		faults = append(faults, err)
	}
	return checked, errors.Join(faults...)
}

// lookup appends the value at a path of names and keys, and reports whether there
// is one. At an empty path that is the whole table as JSON. room is scratch space
// for the steps of the path.
func (s settings) lookup(r *record, room *steps, path string) bool {
	if path == "" {
		r.settingJSON(s.root)
		return true
	}
	segments, err := room.parse(path)
	defer clear(segments)
	r.extra += int64(len(segments)) * stepExtra
	if err != nil {
		return false
	}
	var at any = s.root
	for _, step := range segments {
		table, ok := at.(*settingTable)
		if !ok || step.kind != segmentField && step.kind != segmentKey {
			return false
		}
		i, ok := table.places[step.name]
		if !ok {
			return false
		}
		at = table.entries[i].value
	}
	r.setting(at)
	return true
}

// steps is reusable memory for the steps of a path.
type steps struct{ parser pathParser }

// parse returns the steps of a path. They and the error are valid until the next
// call of parse.
func (s *steps) parse(path string) ([]segment, error) {
	p := &s.parser
	if p.room == nil {
		p.room = make([]byte, maxPathBytes)
	}
	p.keys, p.segments = p.room, p.segments[:0]
	segments, err := p.parse(path)
	p.text = "" // the text lies in the guest's memory
	return segments, err
}

// setting appends a value.
func (r *record) setting(value any) {
	switch v := value.(type) {
	case string:
		r.text(v)
	case bool:
		r.boolean(v)
	case int64:
		r.integer(v)
	case float64:
		r.float(v)
	case []any:
		begin := r.list(len(v))
		for _, element := range v {
			if r.full() {
				break
			}
			r.setting(element)
		}
		r.end(begin)
	case *settingTable:
		if !v.texts {
			r.settingJSON(v)
			return
		}
		begin := r.textMap(len(v.entries))
		for _, e := range v.entries {
			text, _ := e.value.(string)
			r.textEntry(e.key, text)
		}
		r.end(begin)
	}
}

// settingJSON appends a table as a value of type JSON.
func (r *record) settingJSON(table *settingTable) {
	begin := r.open(typeJSON)
	r.out = appendSetting(r.out, table)
	r.encoded += len(r.out) - begin
	r.end(begin)
}

// digest returns a digest of the settings.
func (s settings) digest() [sha256.Size]byte { return sha256.Sum256(appendSetting(nil, s.root)) }
