package kernel

import (
	"math"
	"strconv"
	"strings"
)

// flat parses lines of a name and a number, such as memory.stat, cpu.stat and /proc/vmstat. A colon
// behind the name is ignored, and so is everything behind the number. Other lines are left out.
func flat(text string) map[string]uint64 {
	values := map[string]uint64{}
	for line := range strings.Lines(text) {
		name := ""
		for field := range strings.FieldsSeq(line) {
			if name == "" {
				name = field
				continue
			}
			if n, err := strconv.ParseUint(field, 10, 64); err == nil {
				values[strings.TrimSuffix(name, ":")] = n
			}
			break
		}
	}
	return values
}

// value returns a value of a map, nil if there is none.
func value(values map[string]uint64, name string) *uint64 {
	n, ok := values[name]
	if !ok {
		return nil
	}
	return &n
}

// scaled returns a number times a factor, nil for nil. A product that is too large becomes the
// largest number.
func scaled(n *uint64, factor uint64) *uint64 {
	if n == nil {
		return nil
	}
	return new(product(*n, factor))
}

func product(n, factor uint64) uint64 {
	if factor != 0 && n > math.MaxUint64/factor {
		return math.MaxUint64
	}
	return n * factor
}

// number parses a file that has one number; nil for another content, such as "max".
func number(text string) *uint64 {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return nil
	}
	return &n
}

// unlimited is the least limit that stands for none: cgroup v1 shows the largest multiple of the
// page size.
const unlimited = math.MaxInt64 - 1<<20

// limit parses a limit; nil for none.
func limit(text string) *uint64 {
	n := number(text)
	if n == nil || *n >= unlimited {
		return nil
	}
	return n
}

// lines counts the lines of a file such as cgroup.procs.
func lines(text string) *uint64 { return new(uint64(len(list(text)))) }
