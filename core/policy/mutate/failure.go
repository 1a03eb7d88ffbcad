package mutate

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
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
	return fmt.Errorf("%w: %s", ErrPatch, oneLine(fmt.Sprintf(format, args...), maxMessage))
}

func beyond(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrReach, oneLine(fmt.Sprintf(format, args...), maxMessage))
}

// shown is a text of the plugin in quotes.
func shown(text string) string { return fmt.Sprintf("%q", oneLine(text, maxShown)) }

// oneLine makes one line of a text, of at most so many bytes.
func oneLine(text string, most int) string {
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
}
