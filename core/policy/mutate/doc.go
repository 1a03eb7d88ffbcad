// Package mutate applies a policy's patch to a pod, and refuses changes that the
// policy may not make.
//
// Inputs: a pod, an RFC 6902 patch of the document that the plugin saw, and what
// the policy may change (Reach). Outputs: a new pod and the places at which it
// differs, or an error that says what is at fault: the plugin (ErrPatch) or the
// policy's reach (ErrReach). The package starts no goroutine and keeps no state.
//
// Only the differences after the patch matter, not the paths in the patch. The
// patched document is decoded as strictly as one from a source, with the same
// defaults and the same validation, and then compared with the document before. So
// a default that follows from a change counts as a change, too.
//
// The cost of a patch is bounded by its length: the numbers of its operations and
// values, their depth, and the number of list elements that it moves are limited.
package mutate
