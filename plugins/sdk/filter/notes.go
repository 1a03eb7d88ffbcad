package filter

import "github.com/wardlet/wardlet/plugins/sdk/internal/host"

// What follows is said while a policy judges. The agent counts the bytes of
// all of it and of the verdict's reason against the policy's output_bytes (64
// KiB by default); beyond, the call fails.

// Warn adds a warning for the author of the pod. There may be 64 in a call, of
// at most 4 KiB.
func Warn(message string) { host.Warn(message) }

// Annotate adds a note for programs to the decision's record. There may be 64
// in a call; a key has 1 to 253 bytes.
func Annotate(key, value string) { host.Annotate(key, value) }

// Explain says how the verdict came about, for people who ask. The last call
// counts.
func Explain(text string) { host.Explain(text) }
