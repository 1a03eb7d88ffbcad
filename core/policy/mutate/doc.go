// Package mutate changes a pod as a policy's patch says, and refuses what the
// policy may not change.
//
// Comes in: a pod, an RFC 6902 patch of the document that the plugin saw, and
// what the policy may change (Reach). Goes out: a new pod and the places that
// are different in it, or an error that says who is to blame: the plugin
// (ErrPatch) or the policy's reach (ErrReach). The package owns no goroutine
// and keeps no state.
//
// What a patch's paths are does not matter, only what is different afterwards.
// The patched document is read as strictly as one of a source, with the same
// defaults and the same validation, and then compared with the document before.
// So a default that follows from a change counts as a change, too.
//
// A patch costs what its length allows and no more: the number of operations
// and of values, their depth and the elements that lists move are bounded.
package mutate
