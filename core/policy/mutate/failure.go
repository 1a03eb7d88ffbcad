package mutate

import (
	"errors"
	"fmt"

	"github.com/wardlet/wardlet/core/printable"
)

// The errors of Apply. Each error is one of the two, see errors.Is.
var (
	// ErrPatch: the patch is no patch, does not fit the pod, or makes no valid
	// pod of it. The plugin failed.
	ErrPatch = errors.New("the patch cannot be applied")
	// ErrReach: the patch fits, but the policy may not change what it changes.
	ErrReach = errors.New("the patch goes beyond the policy's reach")
)

const (
	// maxMessage bounds an error's text, in bytes.
	maxMessage = 1 << 10
	// maxShown bounds a text of the plugin within one, in bytes.
	maxShown = 200
)

func badPatch(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrPatch, printable.Short(fmt.Sprintf(format, args...), maxMessage))
}

func beyond(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrReach, printable.Short(fmt.Sprintf(format, args...), maxMessage))
}

// shown is a text of the plugin in quotes.
func shown(text string) string { return fmt.Sprintf("%q", printable.Cut(text, maxShown)) }
