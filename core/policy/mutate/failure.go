package mutate

import (
	"errors"
	"fmt"

	"github.com/wardlet/wardlet/core/printable"
)

// These are the errors of Apply, see errors.Is.
var (
	// ErrPatch: the patch is not valid, does not fit the pod, or does not result in
	// a valid pod. The plugin is at fault.
	ErrPatch = errors.New("the patch cannot be applied")
	// ErrReach: the patch fits, but the policy may not make its changes.
	ErrReach = errors.New("the patch goes beyond the policy's reach")
)

const (
	// maxMessage is the longest text of an error, in bytes.
	maxMessage = 1 << 10
	// maxShown is the longest text of the plugin within an error, in bytes.
	maxShown = 200
)

func badPatch(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrPatch, printable.Short(fmt.Sprintf(format, args...), maxMessage))
}

func beyond(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrReach, printable.Short(fmt.Sprintf(format, args...), maxMessage))
}

// shown returns a text of the plugin in quotes.
func shown(text string) string { return fmt.Sprintf("%q", printable.Cut(text, maxShown)) }
