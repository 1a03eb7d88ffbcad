package simulation

import (
	"sync/atomic"
	"time"
	"unsafe"
)

// clock is the node's: its wall clock may be set, its monotonic readings go on.
type clock struct {
	start time.Time
	// shift is by how many seconds the wall clock is wrong.
	shift atomic.Int64
}

// timeParts are those of a time.Time, of which the package time offers no way to set
// one reading without the other. TestTheWallClockJumpsAndDurationsDoNot watches
// over the layout.
type timeParts struct {
	// wall has a flag for the monotonic reading, 33 bits of seconds since 1885 and
	// 30 bits of nanoseconds.
	wall uint64
	// ext is the monotonic reading, in nanoseconds.
	ext int64
	loc *time.Location
}

const (
	hasMonotonic   = 1 << 63
	nanosecondBits = 30
	// from1885 are the seconds from the beginning of 1885 to that of 1970.
	from1885 = 2682288000
)

// now is the time with a monotonic reading, which time.Now has not in a bubble.
func (c *clock) now() time.Time {
	t := time.Now()
	p := timeParts{
		wall: hasMonotonic | uint64(t.Unix()+c.shift.Load()+from1885)<<nanosecondBits | uint64(t.Nanosecond()),
		ext:  int64(t.Sub(c.start)) + 1,
	}
	return *(*time.Time)(unsafe.Pointer(&p))
}

// wall is the time as a container runtime tells it: what the wall clock says.
func (c *clock) wall() time.Time { return c.now().Round(0) }

// jump sets the wall clock.
func (c *clock) jump(by time.Duration) { c.shift.Add(int64(by / time.Second)) }
