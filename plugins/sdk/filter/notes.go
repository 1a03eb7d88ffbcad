package filter

import "github.com/wardlet/wardlet/plugins/sdk/internal/host"

// A policy calls the following functions while it judges. The bytes of all their texts and
// of the verdict's reason together must not exceed the policy's output_bytes (64 KiB by
// default); otherwise the call fails.

// Warn adds a warning for the author of the pod. A call may have 64 warnings of at most 4
// KiB each.
func Warn(message string) { host.Warn(message) }

// Annotate adds an annotation, for programs, to the decision's record. A call may have 64
// annotations; a key has 1 to 253 bytes.
func Annotate(key, value string) { host.Annotate(key, value) }

// Explain explains how the policy found its verdict, for people. If it is called several
// times, the last call counts.
func Explain(text string) { host.Explain(text) }
