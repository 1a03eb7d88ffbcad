package merge

import (
	"github.com/wardlet/wardlet/plugins/sdk/internal/host"
	"github.com/wardlet/wardlet/plugins/sdk/patch"
)

// What follows is said while a policy chooses. The agent counts the bytes of
// all of it and of the verdict's reason against the policy's output_bytes (64
// KiB by default); beyond, the call fails.

// Warn adds a warning for the authors of the candidates. There may be 64 in a
// call, of at most 4 KiB.
func Warn(message string) { host.Warn(message) }

// Annotate adds a note for programs to the decision's record. There may be 64
// in a call; a key has 1 to 253 bytes.
func Annotate(key, value string) { host.Annotate(key, value) }

// Explain says how the verdict came about, for people who ask. The last call
// counts.
func Explain(text string) { host.Explain(text) }

// Patch proposes to change the winner. The last call counts. The
// agent refuses a patch of what the document's mutable_paths do not name.
func Patch(operations ...patch.Operation) { host.Patch(patch.JSON(operations...)) }

// PatchJSON is Patch of operations that are written as RFC 6902 has it: a JSON
// array of objects with op (add, replace, remove or test), path and value.
func PatchJSON(operations []byte) { host.Patch(string(operations)) }
