package quantity

import (
	"math"

	"github.com/wardlet/wardlet/plugins/sdk"
)

// Milli is an amount in thousandths, of a CPU or of a byte, from 0 to Most.
type Milli int64

// Most is the largest amount; of memory, it is a little more than 8 PiB. Larger amounts
// become Most.
const Most Milli = math.MaxInt64

// Whole returns n CPUs or bytes; n must not be negative.
func Whole(n int64) Milli {
	if n > int64(Most)/1000 {
		return Most
	}
	return Milli(n * 1000)
}

// Plus returns the sum of two amounts, at most Most.
func (m Milli) Plus(n Milli) Milli {
	if n > Most-m {
		return Most
	}
	return m + n
}

// Write adds the amount to a text as CPU is written: 4, or 1500m.
func (m Milli) Write(t *sdk.Text) {
	if m%1000 == 0 {
		t.AddInt(int64(m / 1000))
	} else {
		t.AddInt(int64(m))
		t.Add("m")
	}
}

// WriteBinary adds the amount to a text as memory is written: with the largest power of
// 1024 that divides it, such as 8Gi or 1536Mi.
func (m Milli) WriteBinary(t *sdk.Text) {
	n := int64(m / 1000)
	if m%1000 != 0 || n%1024 != 0 || n == 0 {
		m.Write(t)
		return
	}
	power := 0
	for ; n%1024 == 0; n /= 1024 {
		power++
	}
	t.AddInt(n)
	t.Add(binary[power-1:power], "i")
}
