package module

import "fmt"

// Fault is why a module is refused, and where.
type Fault struct {
	// Section is the section's name, empty for what lies outside of any.
	Section string
	// Index is which element of the section, or which function for code,
	// counted from 0 and with imported ones; -1 where it is the section itself.
	Index int
	// Offset is the place in the module, in bytes.
	Offset int
	// What is wrong.
	What string
}

// Error is what is wrong and where.
func (f *Fault) Error() string {
	switch {
	case f.Section == "":
		return fmt.Sprintf("at byte %#x: %s", f.Offset, f.What)
	case f.Index < 0:
		return fmt.Sprintf("%s section, at byte %#x: %s", f.Section, f.Offset, f.What)
	case f.Section == sectionNames[SectionCode]:
		return fmt.Sprintf("code section, function %d, at byte %#x: %s", f.Index, f.Offset, f.What)
	}
	return fmt.Sprintf("%s section, %s %d, at byte %#x: %s", f.Section, f.Section, f.Index, f.Offset, f.What)
}
