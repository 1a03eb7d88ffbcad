// Package referencestest is a plugin that reads facts about the objects that a pod names,
// for tests. It is a package of its own, because a plugin declares its fields before any
// test runs, and these fields need a capability.
//
// Comes in: questions of sdktest. Goes out: nothing; its tests check what the policy sees.
package referencestest
