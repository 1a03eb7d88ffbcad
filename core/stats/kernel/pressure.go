package kernel

import (
	"strconv"
	"strings"
)

// Pressure is how long tasks waited for a resource: some of them, or all at the same time.
type Pressure struct{ Some, Full Stall }

// Stall is one line of a pressure file.
type Stall struct {
	// Avg10, Avg60 and Avg300 are shares of the last 10, 60 and 300 seconds, in percent.
	Avg10, Avg60, Avg300 float64
	// Total is in nanoseconds.
	Total uint64
}

// Pressure returns the pressure on the whole machine; nil for each resource for which the kernel
// does not count it.
func (k *Kernel) Pressure() (cpu, memory, io *Pressure) {
	read := func(resource string) *Pressure { return readPressure(k.proc("pressure/" + resource)) }
	return read("cpu"), read("memory"), read("io")
}

// readPressure reads a pressure file, nil if there is none. A kernel that does not count has the
// file and refuses to read it.
func readPressure(path string) *Pressure {
	content, err := text(path)
	if err != nil {
		return nil
	}
	return parsePressure(content)
}

// parsePressure parses the text of a pressure file, nil for another content.
func parsePressure(text string) *Pressure {
	p, known := &Pressure{}, false
	for _, fields := range list(text) {
		var of *Stall
		switch fields[0] {
		case "some":
			of = &p.Some
		case "full":
			of = &p.Full
		default:
			continue
		}
		known = true
		for _, field := range fields[1:] {
			of.set(strings.Cut(field, "="))
		}
	}
	if !known {
		return nil
	}
	return p
}

func (s *Stall) set(name, value string, _ bool) {
	if name == "total" {
		if n, err := strconv.ParseUint(value, 10, 64); err == nil {
			s.Total = product(n, 1000) // from microseconds
		}
		return
	}
	share, err := strconv.ParseFloat(value, 64)
	if err != nil || !(share >= 0 && share <= 100) {
		return
	}
	switch name {
	case "avg10":
		s.Avg10 = share
	case "avg60":
		s.Avg60 = share
	case "avg300":
		s.Avg300 = share
	}
}
