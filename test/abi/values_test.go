package abi

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var errTorn = errors.New("the bytes end too early")

// bytesOf are the bytes that a module shows.
type bytesOf []byte

func (b *bytesOf) take(n int) ([]byte, error) {
	if n < 0 || n > len(*b) {
		return nil, errTorn
	}
	taken := (*b)[:n]
	*b = (*b)[n:]
	return taken, nil
}

func (b *bytesOf) u32() (int, error) {
	taken, err := b.take(4)
	if err != nil {
		return 0, err
	}
	return int(binary.LittleEndian.Uint32(taken)), nil
}

func (b *bytesOf) sized() (bytesOf, error) {
	n, err := b.u32()
	if err != nil {
		return nil, err
	}
	taken, err := b.take(n)
	return bytesOf(taken), err
}

// value reads a value of the ABI as JSON: null is missing, a float has a point, an object is a map
// of strings, {"@json": …} is JSON.
func (b *bytesOf) value() (any, error) {
	kind, err := b.take(1)
	if err != nil {
		return nil, err
	}
	inner, err := b.sized()
	if err != nil {
		return nil, err
	}
	value, err := inner.content(kind[0])
	if err == nil && len(inner) > 0 {
		err = fmt.Errorf("%d bytes too many in a value of type %d", len(inner), kind[0])
	}
	return value, err
}

func (b *bytesOf) content(kind byte) (any, error) {
	switch kind {
	case 0:
		return nil, nil
	case 1, 7:
		text, _ := b.take(len(*b))
		if kind == 1 {
			return string(text), nil
		}
		var value any
		err := strictly(text, &value)
		return map[string]any{"@json": value}, err
	case 2:
		one, err := b.take(1)
		return err == nil && one[0] == 1, err
	case 3, 4:
		eight, err := b.take(8)
		if err != nil {
			return nil, err
		}
		bits := binary.LittleEndian.Uint64(eight)
		if kind == 3 {
			return json.Number(strconv.FormatInt(int64(bits), 10)), nil
		}
		return floatNumber(math.Float64frombits(bits)), nil
	case 5:
		return b.list()
	case 6:
		return b.textMap()
	}
	return nil, fmt.Errorf("type %d", kind)
}

// floatNumber returns a float as JSON, with a point.
func floatNumber(f float64) json.Number {
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if f == math.Trunc(f) {
		text += ".0"
	}
	return json.Number(text)
}

func (b *bytesOf) list() (any, error) {
	n, err := b.u32()
	list := []any{}
	for range n {
		if err != nil {
			return nil, err
		}
		var element any
		element, err = b.value()
		list = append(list, element)
	}
	return list, err
}

func (b *bytesOf) textMap() (any, error) {
	n, err := b.u32()
	entries := map[string]any{}
	last := ""
	for i := range n {
		if err != nil {
			return nil, err
		}
		key, err := b.sized()
		if err != nil {
			return nil, err
		}
		value, err := b.sized()
		if err != nil {
			return nil, err
		}
		if i > 0 && string(key) <= last {
			return nil, fmt.Errorf("the key %q comes after %q", key, last)
		}
		last = string(key)
		entries[last] = string(value)
	}
	return entries, err
}

// shown decode the values in the explanations of the modules that show values.
var shown = map[string]func(b *bytesOf) ([]any, error){
	"record":  recordValues,
	"get":     fetched,
	"setting": fetched,
	"handles": numbers,
	"not-now": numbers,
}

// recordValues reads the values of a record: a u16 count, then a u16 handle and a value each.
func recordValues(b *bytesOf) (values []any, err error) {
	count, err := b.take(2)
	if err != nil {
		return nil, err
	}
	for n := range binary.LittleEndian.Uint16(count) {
		handle, err := b.take(2)
		if err != nil {
			return nil, err
		}
		if got := binary.LittleEndian.Uint16(handle); got != n {
			return nil, fmt.Errorf("handle %d, want %d", got, n)
		}
		value, err := b.value()
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, nil
}

// fetched reads values that follow their lengths. A length without a value is a number, for a value
// that did not fit or is missing.
func fetched(b *bytesOf) (values []any, err error) {
	for len(*b) > 0 {
		length, err := b.u32()
		if err != nil {
			return nil, err
		}
		if length > len(*b) {
			values = append(values, json.Number(strconv.Itoa(int(int32(uint32(length))))))
			continue
		}
		before := len(*b)
		value, err := b.value()
		if err != nil {
			return nil, err
		}
		if took := before - len(*b); took != length {
			return nil, fmt.Errorf("a length of %d bytes, and a value of %d", length, took)
		}
		values = append(values, value)
	}
	return values, nil
}

func numbers(b *bytesOf) (values []any, err error) {
	for len(*b) > 0 {
		n, err := b.u32()
		if err != nil {
			return nil, err
		}
		values = append(values, json.Number(strconv.Itoa(int(int32(uint32(n))))))
	}
	return values, nil
}

// TestExplanationsShowTheValues checks that modules show, in hexadecimal digits, the values that a
// person has written into the case as JSON.
func TestExplanationsShowTheValues(t *testing.T) {
	t.Parallel()
	s := readSet(t)
	for _, c := range s.Cases {
		read := shown[c.Module]
		for i, call := range c.Calls {
			if call.Want.Answer == "" || read == nil {
				if call.Values != nil {
					t.Errorf("%s, call %d: it shows no values", c.Name, i)
				}
				continue
			}
			content, err := hex.DecodeString(string(call.Want.Explanation))
			if err != nil {
				t.Errorf("%s, call %d: %v", c.Name, i, err)
				continue
			}
			rest := bytesOf(content)
			values, err := read(&rest)
			if diff := cmp.Diff(call.Values, values); err != nil || diff != "" || len(rest) > 0 {
				t.Errorf("%s, call %d: %v, %d bytes left (-values +explanation):\n%s", c.Name, i, err, len(rest), diff)
			}
		}
	}
}
