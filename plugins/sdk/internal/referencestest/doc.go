// Package referencestest is a plugin that looks at what a pod names, for tests.
// It is a package of its own, because a plugin declares its fields before any
// test runs, and needs a capability for these.
//
// Comes in: questions of sdktest. Goes out: nothing; its tests look at what the
// policy sees.
package referencestest
