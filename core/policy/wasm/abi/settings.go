package abi

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"
)

// Settings are the [settings] of a policy in the types that TOML decodes to.
type Settings struct{ root *settingTable }

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

// CheckSettings returns a copy of the settings in the types that record and JSON
// support.
func CheckSettings(table map[string]any) (Settings, error) {
	root, err := checkTable("settings", table)
	return Settings{root}, err
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

// stepExtra is what each step of a setting's path costs in addition to its fuel, in
// units of fuel, because it is looked up in a table.
const stepExtra = 40

// Lookup makes a record of the value at a path of names and keys, and reports
// whether there is one. At an empty path that is the whole table as JSON. room is
// scratch space for the steps of the path. most is how much fuel the record may
// cost, 0 if there is no limit.
func (s Settings) Lookup(r *Record, room *PathSteps, path string, most int64) bool {
	r.begin()
	r.affordable = most
	if path == "" {
		r.settingJSON(s.root)
		return true
	}
	segments, err := room.parse(path)
	defer clear(segments)
	r.Extra += int64(len(segments)) * stepExtra
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

// PathSteps is reusable memory for the steps of a path.
type PathSteps struct{ parser pathParser }

// parse returns the steps of a path. They and the error are valid until the next
// call of parse.
func (s *PathSteps) parse(path string) ([]segment, error) {
	p := &s.parser
	if p.room == nil {
		p.room = make([]byte, MaxPathBytes)
	}
	p.keys, p.segments = p.room, p.segments[:0]
	segments, err := p.parse(path)
	p.text = "" // the text lies in the guest's memory
	return segments, err
}

// setting appends a value.
func (r *Record) setting(value any) {
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
func (r *Record) settingJSON(table *settingTable) {
	begin := r.open(typeJSON)
	r.Out = appendSetting(r.Out, table)
	r.encoded += len(r.Out) - begin
	r.end(begin)
}

// Digest returns a digest of the settings.
func (s Settings) Digest() [sha256.Size]byte { return sha256.Sum256(appendSetting(nil, s.root)) }

// appendSetting appends a value of settings as JSON. Integers and floats remain
// distinguishable, as in TOML: a float has a point or an exponent.
func appendSetting(out []byte, value any) []byte {
	switch v := value.(type) {
	case string:
		return appendQuoted(out, v)
	case bool:
		return strconv.AppendBool(out, v)
	case int64:
		return strconv.AppendInt(out, v, 10)
	case float64:
		return appendFloat(out, v)
	case []any:
		out = append(out, '[')
		for i, element := range v {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendSetting(out, element)
		}
		return append(out, ']')
	case *settingTable:
		out = append(out, '{')
		for i, e := range v.entries {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(appendQuoted(out, e.key), ':')
			out = appendSetting(out, e.value)
		}
		return append(out, '}')
	}
	return out
}

// appendFloat appends a finite float in the fewest digits that parse to the same
// float.
func appendFloat(out []byte, f float64) []byte {
	const smallest, largest = 1e-6, 1e21 // of the numbers without an exponent
	format := byte('f')
	if size := math.Abs(f); size != 0 && (size < smallest || size >= largest) {
		format = 'e'
	}
	begin := len(out)
	out = strconv.AppendFloat(out, f, format, -1, 64)
	if !bytes.ContainsAny(out[begin:], ".e") {
		out = append(out, ".0"...)
	}
	return out
}

// appendQuoted appends a text, which is valid UTF-8, as a JSON string.
func appendQuoted(out []byte, text string) []byte {
	const digits = "0123456789abcdef"
	out = append(out, '"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c < ' ':
			out = append(out, '\\', 'u', '0', '0', digits[c>>4], digits[c&0xf])
		default:
			out = append(out, c)
		}
	}
	return append(out, '"')
}
