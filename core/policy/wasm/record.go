package wasm

import (
	"encoding/binary"
	"encoding/json"
	"maps"
	"math"
	"slices"
)

// The types of values in records and settings.
const (
	typeMissing byte = iota
	typeString
	typeBool
	typeInt
	typeFloat
	typeList
	typeMap
	typeJSON
)

// record is a growing row of values. A value is u8 type, u32 length and that
// many bytes, all numbers little-endian.
type record struct {
	out []byte
	err error
}

func (r *record) header(kind byte, length int) {
	r.out = append(r.out, kind)
	r.out = binary.LittleEndian.AppendUint32(r.out, uint32(length))
}

func (r *record) missing() { r.header(typeMissing, 0) }

func (r *record) text(s string) {
	r.header(typeString, len(s))
	r.out = append(r.out, s...)
}

func (r *record) boolean(b bool) {
	r.header(typeBool, 1)
	if b {
		r.out = append(r.out, 1)
	} else {
		r.out = append(r.out, 0)
	}
}

func (r *record) integer(n int64) {
	r.header(typeInt, 8)
	r.out = binary.LittleEndian.AppendUint64(r.out, uint64(n))
}

func (r *record) float(f float64) {
	r.header(typeFloat, 8)
	r.out = binary.LittleEndian.AppendUint64(r.out, math.Float64bits(f))
}

// list begins a list of n values; end, called when they stand, closes it.
func (r *record) list(n int) (begin int) {
	r.header(typeList, 0)
	begin = len(r.out)
	r.out = binary.LittleEndian.AppendUint32(r.out, uint32(n))
	return begin
}

func (r *record) end(begin int) {
	binary.LittleEndian.PutUint32(r.out[begin-4:], uint32(len(r.out)-begin))
}

// texts is a map of strings, sorted by key.
func (r *record) texts(m map[string]string) {
	r.header(typeMap, 0)
	begin := len(r.out)
	r.out = binary.LittleEndian.AppendUint32(r.out, uint32(len(m)))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		for _, s := range [...]string{key, m[key]} {
			r.out = binary.LittleEndian.AppendUint32(r.out, uint32(len(s)))
			r.out = append(r.out, s...)
		}
	}
	r.end(begin)
}

// json is any other value. An error sticks.
func (r *record) json(v any) {
	text, err := json.Marshal(v)
	if err != nil {
		r.err = err
		return
	}
	r.header(typeJSON, len(text))
	r.out = append(r.out, text...)
}
