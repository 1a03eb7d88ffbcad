package abitest

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"testing"
)

// Missing is what ParseValue returns for a value that is missing.
type Missing struct{}

// Raw is a value of type JSON.
type Raw string

// ParseRecord reads a record as a guest does, and checks all of it.
func ParseRecord(tb testing.TB, data []byte) []any {
	tb.Helper()
	r := guestReader{tb: tb, data: data}
	fields := make([]any, r.u16())
	for i := range fields {
		if handle := r.u16(); handle != i {
			tb.Fatalf("handle %d at place %d", handle, i)
		}
		fields[i] = r.value()
	}
	if len(r.data) > 0 {
		tb.Fatalf("%d bytes after the record", len(r.data))
	}
	return fields
}

// ParseValue reads one value.
func ParseValue(tb testing.TB, data []byte) any {
	tb.Helper()
	r := guestReader{tb: tb, data: data}
	v := r.value()
	if len(r.data) > 0 {
		tb.Fatalf("%d bytes after the value", len(r.data))
	}
	return v
}

type guestReader struct {
	tb   testing.TB
	data []byte
}

func (r *guestReader) take(n int) []byte {
	r.tb.Helper()
	if n > len(r.data) {
		r.tb.Fatalf("%d bytes wanted, %d are left", n, len(r.data))
	}
	head := r.data[:n]
	r.data = r.data[n:]
	return head
}

func (r *guestReader) u16() int { return int(binary.LittleEndian.Uint16(r.take(2))) }
func (r *guestReader) u32() int { return int(binary.LittleEndian.Uint32(r.take(4))) }
func (r *guestReader) i64() int64 {
	return int64(binary.LittleEndian.Uint64(r.take(8)))
}

func (r *guestReader) value() any {
	r.tb.Helper()
	kind, length := r.take(1)[0], r.u32()
	inner := &guestReader{tb: r.tb, data: r.take(length)}
	v := inner.content(kind)
	if len(inner.data) > 0 {
		r.tb.Fatalf("%d bytes left in a value of type %d", len(inner.data), kind)
	}
	return v
}

func (r *guestReader) content(kind byte) any {
	r.tb.Helper()
	switch kind {
	case 0:
		return Missing{}
	case 1:
		return string(r.take(len(r.data)))
	case 2:
		return r.take(1)[0] == 1
	case 3:
		return r.i64()
	case 4:
		return math.Float64frombits(uint64(r.i64()))
	case 5:
		list := make([]any, r.u32())
		for i := range list {
			list[i] = r.value()
		}
		return list
	case 6:
		m, last := map[string]string{}, ""
		for i := range r.u32() {
			key := string(r.take(r.u32()))
			if i > 0 && key <= last {
				r.tb.Fatalf("key %q after %q", key, last)
			}
			m[key], last = string(r.take(r.u32())), key
		}
		return m
	case 7:
		text := r.take(len(r.data))
		if !json.Valid(text) {
			r.tb.Fatalf("not JSON: %s", text)
		}
		return Raw(text)
	}
	r.tb.Fatalf("value of unknown type %d", kind)
	return nil
}
