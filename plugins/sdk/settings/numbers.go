package settings

import (
	"math"
	"math/bits"
	"reflect"
	"unsafe"

	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
	"github.com/wardlet/wardlet/plugins/sdk/internal/record"
)

// integer parses the text of an integer into a variable of an integer type.
func (d *decoder) integer(path string, t reflect.Type, text string, p unsafe.Pointer) {
	log := bits.TrailingZeros8(uint8(t.Size()))
	size := 8 << log
	signed := t.Kind() <= reflect.Int64
	most := uint64(1)<<size - 1
	least := uint64(0) // below zero
	if signed {
		most >>= 1
		least = most + 1
	}
	magnitude, negative, ok := parseInt(text)
	if !ok || !negative && magnitude > most || negative && magnitude > least {
		from, to := "0", bounds[log][2]
		if signed {
			from, to = bounds[log][0], bounds[log][1]
		}
		d.add("setting " + path + " must be from " + from + " to " + to + ", but it is " + text)
		return
	}
	if negative {
		magnitude = -magnitude
	}
	switch size {
	case 8:
		*(*uint8)(p) = uint8(magnitude)
	case 16:
		*(*uint16)(p) = uint16(magnitude)
	case 32:
		*(*uint32)(p) = uint32(magnitude)
	default:
		*(*uint64)(p) = magnitude
	}
}

// parseInt parses decimal digits, with or without a minus before them.
func parseInt(text string) (magnitude uint64, negative, ok bool) {
	if negative = text != "" && text[0] == '-'; negative {
		text = text[1:]
	}
	for i := range len(text) {
		c := text[i] - '0'
		if c > 9 || magnitude > (math.MaxUint64-uint64(c))/10 {
			return 0, negative, false
		}
		magnitude = magnitude*10 + uint64(c)
	}
	return magnitude, negative, text != ""
}

// bounds has the bounds of integer types, by the logarithm of their size in bytes: the
// least and the greatest signed number, and the greatest unsigned number.
var bounds = [...][3]string{
	{"-128", "127", "255"},
	{"-32768", "32767", "65535"},
	{"-2147483648", "2147483647", "4294967295"},
	{"-9223372036854775808", "9223372036854775807", "18446744073709551615"},
}

// float parses the text of a number. If parseFloat cannot parse the number exactly, float
// gets the exact value from the agent. That needs the path of a setting, which an element
// of a list does not have.
func (d *decoder) float(path, text string, p *float64) {
	if f, ok := parseFloat(text); ok {
		*p = f
		return
	}
	v, ok, err := guest.Setting(path)
	if err != nil || !ok || !v.Is(record.Float) {
		d.add("setting " + path + " is " + text + ": a float in a list can have 15 digits and an exponent of 22")
		return
	}
	*p = math.Float64frombits(v.Bits())
}

// powers are the powers of ten that a float64 holds exactly.
var powers = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// parseFloat parses a number if a float64 can hold both its digits and its power of ten
// exactly. The one multiplication or division of the two then rounds correctly.
func parseFloat(text string) (f float64, ok bool) {
	var digits uint64
	exponent, point, negative := 0, false, false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '-' && i == 0:
			negative = true
		case c == '.':
			point = true
		case '0' <= c && c <= '9':
			if digits = digits*10 + uint64(c-'0'); digits >= 1<<53 {
				return 0, false
			}
			if point {
				exponent--
			}
		case c == 'e' || c == 'E':
			rest := text[i+1:]
			if rest != "" && rest[0] == '+' {
				rest = rest[1:]
			}
			n, minus, ok := parseInt(rest)
			switch {
			case !ok || n > 1000:
				return 0, false
			case minus:
				exponent -= int(n)
			default:
				exponent += int(n)
			}
			return scaled(digits, exponent, negative)
		default:
			return 0, false
		}
	}
	return scaled(digits, exponent, negative)
}

func scaled(digits uint64, exponent int, negative bool) (f float64, ok bool) {
	f = float64(digits)
	switch {
	case exponent >= len(powers) || exponent <= -len(powers):
		return 0, false
	case exponent < 0:
		f /= powers[-exponent]
	default:
		f *= powers[exponent]
	}
	if negative {
		f = -f
	}
	return f, true
}
