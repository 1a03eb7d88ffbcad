package wasm

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
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

// valueHeader is u8 type and u32 length, before the bytes of a value.
const valueHeader = 5

// record is a growing row of values. A value is u8 type, u32 length and that
// many bytes, all numbers little-endian. The room it takes is used again after
// begin.
type record struct {
	out []byte
	err error
	// entries, quantity and number are what maps and quantities are sorted and
	// written in.
	entries  []entry
	quantity resource.Quantity
	number   []byte
	// encoded is how many bytes of JSON were made for it.
	encoded int
	// values are how many were written, mapped how many entries of maps.
	values, mapped int
	// extra is what it costs beside its fuel, in units of fuel.
	extra int64
	// most is how many bytes of it are wanted, affordable how much fuel there is for
	// it; 0 for any. Nothing is added to lists beyond: they are wrong then.
	most       int
	affordable int64
}

// entry is one of a map of strings.
type entry struct{ key, value string }

// begin empties the record, which may become as long as it wants.
func (r *record) begin() {
	r.out, r.err, r.encoded, r.values, r.mapped = r.out[:0], nil, 0, 0, 0
	r.most, r.affordable, r.extra = 0, 0, 0
}

// fuel is what a guest pays for the record.
func (r *record) fuel() int64 {
	return int64(len(r.out))/hostFuelBytes + int64(r.encoded)*jsonFuel + int64(r.values)*valueFuel + int64(r.mapped)*entryFuel
}

// full says that the record is longer than anybody wants it, or can pay for.
func (r *record) full() bool {
	return r.most > 0 && len(r.out) > r.most || r.affordable > 0 && r.fuel() > r.affordable
}

// check ends the call if something could not be written.
func (r *record) check() {
	if r.err != nil {
		stop(failf(HostError, "write a field the plugin declared: %w", r.err))
	}
}

// forget drops what the record holds of others, and room for more than most
// bytes.
func (r *record) forget(most int) {
	clear(r.entries[:cap(r.entries)])
	r.quantity = resource.Quantity{}
	if cap(r.out) > most {
		r.out = nil
	}
	r.begin()
}

// room makes the record n bytes longer and returns them. What they hold is left
// from before.
func (r *record) room(n int) []byte {
	at := len(r.out)
	if cap(r.out)-at < n {
		r.out = append(make([]byte, 0, 2*at+n), r.out...)
	}
	r.out = r.out[:at+n]
	return r.out[at:]
}

// value makes room for a value of n bytes and returns them.
func (r *record) value(kind byte, n int) []byte {
	b := r.room(valueHeader + n)
	r.values++
	b[0] = kind
	binary.LittleEndian.PutUint32(b[1:], uint32(n))
	return b[valueHeader:]
}

func (r *record) missing() { r.value(typeMissing, 0) }

func (r *record) text(s string) {
	b := r.room(valueHeader + len(s)) // most values are texts: value, but without a call
	r.values++
	b[0] = typeString
	binary.LittleEndian.PutUint32(b[1:], uint32(len(s)))
	copy(b[valueHeader:], s)
}

func (r *record) boolean(b bool) {
	v := byte(0)
	if b {
		v = 1
	}
	r.value(typeBool, 1)[0] = v
}

func (r *record) integer(n int64) {
	binary.LittleEndian.PutUint64(r.value(typeInt, 8), uint64(n))
}

func (r *record) float(f float64) {
	binary.LittleEndian.PutUint64(r.value(typeFloat, 8), math.Float64bits(f))
}

// open begins a value of unknown length; end, called when its bytes stand,
// closes it.
func (r *record) open(kind byte) (begin int) {
	r.value(kind, 0)
	return len(r.out)
}

func (r *record) end(begin int) {
	binary.LittleEndian.PutUint32(r.out[begin-4:], uint32(len(r.out)-begin))
}

// list begins a list of n values, which end closes.
func (r *record) list(n int) (begin int) {
	begin = r.open(typeList)
	binary.LittleEndian.PutUint32(r.room(4), uint32(n))
	return begin
}

// keyExtra is what a byte of a key costs beside its fuel, in units of fuel: long keys
// that differ late take longer to sort than entries take in fuel.
const keyExtra = 2

// texts is a map of strings, sorted by key.
func (r *record) texts(m map[string]string) {
	begin := r.textMap(len(m))
	defer r.end(begin)
	if r.full() {
		return
	}
	entries := r.entries[:0]
	for key, value := range m {
		entries = append(entries, entry{key, value})
		r.extra += int64(len(key)) * keyExtra
	}
	r.entries = entries
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.key, b.key) })
	for i := range entries {
		r.textEntry(entries[i].key, entries[i].value)
	}
}

// textMap begins a map of n entries, which end closes.
func (r *record) textMap(n int) (begin int) {
	begin = r.open(typeMap)
	r.mapped += n
	binary.LittleEndian.PutUint32(r.room(4), uint32(n))
	return begin
}

// textEntry is an entry of a map; they come sorted by key.
func (r *record) textEntry(key, value string) {
	b := r.room(8 + len(key) + len(value))
	binary.LittleEndian.PutUint32(b, uint32(len(key)))
	copy(b[4:], key)
	b = b[4+len(key):]
	binary.LittleEndian.PutUint32(b, uint32(len(value)))
	copy(b[4:], value)
}

// timeExtra is what an instant costs beside its fuel, in units of fuel.
const timeExtra = 50

// time is an instant, missing if it is zero.
func (r *record) time(t time.Time) {
	if t.IsZero() {
		r.missing()
		return
	}
	r.extra += timeExtra
	begin := r.open(typeString)
	r.out = t.UTC().AppendFormat(r.out, time.RFC3339)
	r.end(begin)
}

// json is any other value. An error sticks.
func (r *record) json(v any) {
	text, err := json.Marshal(v)
	if err != nil {
		r.err = err
		r.missing()
		return
	}
	r.encoded += len(text)
	copy(r.value(typeJSON, len(text)), text)
}
