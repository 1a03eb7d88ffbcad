package abi

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// These are the types of values in records and settings.
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

// valueHeader is the size of the header of a value: u8 type and u32 length.
const valueHeader = 5

// These are the costs of what is written for the guest, in units of fuel.
// hostFuelBytes is how many bytes are handed over for one unit. jsonFuel is the
// fuel of each byte that is encoded as JSON, and valueFuel that of each value.
// entryFuel is the fuel of each entry of a map, because entries are sorted.
const (
	HostFuelBytes = 4
	JSONFuel      = 16
	valueFuel     = 10
	entryFuel     = 100
)

// Record is a buffer of values. A value is u8 type, u32 length and that many bytes,
// all numbers little-endian. begin keeps the buffer for the next record.
type Record struct {
	Out []byte
	Err error
	// entries, quantity and number are scratch space for sorting maps and writing
	// quantities.
	entries  []entry
	quantity resource.Quantity
	number   []byte
	// encoded is how many bytes of JSON were made for the record.
	encoded int
	// values is how many values were written. mapped is how many entries of maps.
	values, mapped int
	// Extra is the cost of the record in addition to its fuel, in units of fuel.
	Extra int64
	// most is how many bytes the record may have. affordable is how much fuel it
	// may cost. 0 means no limit. Beyond a limit no elements are added to lists,
	// and the record is not valid.
	most       int
	affordable int64
}

// entry is an entry of a map of strings.
type entry struct{ key, value string }

// begin empties the record and removes its limits.
func (r *Record) begin() {
	r.Out, r.Err, r.encoded, r.values, r.mapped = r.Out[:0], nil, 0, 0, 0
	r.most, r.affordable, r.Extra = 0, 0, 0
}

// Fuel returns what a guest pays for the record.
func (r *Record) Fuel() int64 {
	return int64(len(r.Out))/HostFuelBytes + int64(r.encoded)*JSONFuel + int64(r.values)*valueFuel + int64(r.mapped)*entryFuel
}

// full reports whether the record exceeds a limit.
func (r *Record) full() bool {
	return r.most > 0 && len(r.Out) > r.most || r.affordable > 0 && r.Fuel() > r.affordable
}

// Check stops the call if something could not be written.
func (r *Record) Check() {
	if r.Err != nil {
		Stop(Failf(HostError, "write a field the plugin declared: %w", r.Err))
	}
}

// Reset releases what the record refers to, and drops its buffer if that is larger
// than most bytes.
func (r *Record) Reset(most int) {
	clear(r.entries[:cap(r.entries)])
	r.quantity = resource.Quantity{}
	if cap(r.Out) > most {
		r.Out = nil
	}
	r.begin()
}

// room makes the record n bytes longer and returns these bytes. They may hold old
// data.
func (r *Record) room(n int) []byte {
	at := len(r.Out)
	if cap(r.Out)-at < n {
		r.Out = append(make([]byte, 0, 2*at+n), r.Out...)
	}
	r.Out = r.Out[:at+n]
	return r.Out[at:]
}

// value appends a value of n bytes and returns these bytes.
func (r *Record) value(kind byte, n int) []byte {
	b := r.room(valueHeader + n)
	r.values++
	b[0] = kind
	binary.LittleEndian.PutUint32(b[1:], uint32(n))
	return b[valueHeader:]
}

func (r *Record) missing() { r.value(typeMissing, 0) }

func (r *Record) text(s string) {
	b := r.room(valueHeader + len(s)) // most values are texts, so this repeats value without a call
	r.values++
	b[0] = typeString
	binary.LittleEndian.PutUint32(b[1:], uint32(len(s)))
	copy(b[valueHeader:], s)
}

func (r *Record) boolean(b bool) {
	v := byte(0)
	if b {
		v = 1
	}
	r.value(typeBool, 1)[0] = v
}

func (r *Record) integer(n int64) {
	binary.LittleEndian.PutUint64(r.value(typeInt, 8), uint64(n))
}

func (r *Record) float(f float64) {
	binary.LittleEndian.PutUint64(r.value(typeFloat, 8), math.Float64bits(f))
}

// open begins a value of unknown length. end, called after its bytes are appended,
// sets the length.
func (r *Record) open(kind byte) (begin int) {
	r.value(kind, 0)
	return len(r.Out)
}

func (r *Record) end(begin int) {
	binary.LittleEndian.PutUint32(r.Out[begin-4:], uint32(len(r.Out)-begin))
}

// list begins a list of n values, which end closes.
func (r *Record) list(n int) (begin int) {
	begin = r.open(typeList)
	binary.LittleEndian.PutUint32(r.room(4), uint32(n))
	return begin
}

// keyExtra is the cost of each byte of a key in addition to its fuel, in units of
// fuel. Long keys with long common prefixes take longer to sort than the fuel of
// entries covers.
const keyExtra = 2

// texts appends a map of strings, sorted by key.
func (r *Record) texts(m map[string]string) {
	begin := r.textMap(len(m))
	defer r.end(begin)
	if r.full() {
		return
	}
	entries := r.entries[:0]
	for key, value := range m {
		entries = append(entries, entry{key, value})
		r.Extra += int64(len(key)) * keyExtra
	}
	r.entries = entries
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.key, b.key) })
	for i := range entries {
		r.textEntry(entries[i].key, entries[i].value)
	}
}

// textMap begins a map of n entries, which end closes.
func (r *Record) textMap(n int) (begin int) {
	begin = r.open(typeMap)
	r.mapped += n
	binary.LittleEndian.PutUint32(r.room(4), uint32(n))
	return begin
}

// textEntry appends an entry of a map. Entries must be appended in the order of
// their keys.
func (r *Record) textEntry(key, value string) {
	b := r.room(8 + len(key) + len(value))
	binary.LittleEndian.PutUint32(b, uint32(len(key)))
	copy(b[4:], key)
	b = b[4+len(key):]
	binary.LittleEndian.PutUint32(b, uint32(len(value)))
	copy(b[4:], value)
}

// timeExtra is the cost of a time in addition to its fuel, in units of fuel.
const timeExtra = 50

// time appends a time, or a missing value if it is zero.
func (r *Record) time(t time.Time) {
	if t.IsZero() {
		r.missing()
		return
	}
	r.Extra += timeExtra
	begin := r.open(typeString)
	r.Out = t.UTC().AppendFormat(r.Out, time.RFC3339)
	r.end(begin)
}

// json appends any other value as JSON. An error is kept in err.
func (r *Record) json(v any) {
	text, err := json.Marshal(v)
	if err != nil {
		r.Err = err
		r.missing()
		return
	}
	r.encoded += len(text)
	copy(r.value(typeJSON, len(text)), text)
}
