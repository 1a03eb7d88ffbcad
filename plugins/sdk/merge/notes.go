package merge

import (
	"github.com/wardlet/wardlet/plugins/sdk/internal/host"
	"github.com/wardlet/wardlet/plugins/sdk/patch"
)

// A policy calls the following functions while it chooses. The bytes of all their texts and
// of the verdict's reason together must not exceed the policy's output_bytes (64 KiB by
// default); otherwise the call fails.

// Warn adds a warning for the authors of the candidates. A call may have 64 warnings of at
// most 4 KiB each.
func Warn(message string) { host.Warn(message) }

// Annotate adds an annotation, for programs, to the decision's record. A call may have 64
// annotations; a key has 1 to 253 bytes.
func Annotate(key, value string) { host.Annotate(key, value) }

// Explain explains how the policy found its verdict, for people. If it is called several
// times, the last call counts.
func Explain(text string) { host.Explain(text) }

// Patch proposes to change the winner. If it is called several times, the last call counts.
// The agent refuses a patch that changes a field outside of the document's mutable_paths.
func Patch(operations ...patch.Operation) { host.Patch(patch.JSON(operations...)) }

// PatchJSON does what Patch does, with operations in the format of RFC 6902: a JSON array
// of objects with op (add, replace, remove or test), path and value.
func PatchJSON(operations []byte) { host.Patch(string(operations)) }
