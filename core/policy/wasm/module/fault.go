package module

import "fmt"

// Fault is the reason why a module is refused, with its place.
type Fault struct {
	// Section is the section's name, empty for what is outside of all sections.
	Section string
	// Index is the number of the element in the section, or of the function in the
	// code section. Both begin with 0 and include imported ones. Index is -1 for
	// the section itself.
	Index int
	// Offset is the offset in the module, in bytes.
	Offset int
	// What says what is wrong.
	What string
}

// Error returns what is wrong and where.
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
