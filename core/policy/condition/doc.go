// Package condition compiles and asks the conditions of policies: expressions
// in CEL (cel.dev) over the pod that is judged. A policy is asked only where
// all of its conditions are true.
//
// Comes in: expressions (Compile), and for each decision what is known before
// any policy is asked (Request). Goes out: whether a condition is true, and
// what it cost (Condition.Matches).
//
// The package owns no goroutine. A Condition may be used from any; an Input is
// one decision's, used by one goroutine. Pods are only read.
//
// # What expressions see
//
// object is the pod, oldObject the one admitted before, and request the fields
// of that name in docs/abi.md. Names are those of the manifest, without kind,
// apiVersion, status and metadata.managedFields. All of it has types: an
// unknown name is refused when the expression is compiled.
//
//   - What is not set reads as the zero value of its type: false, 0, an empty
//     text, list or map, a time of 1970, also behind an object that is not set.
//     has(object.spec.hostUsers) tells whether a field is set, and an object may
//     be compared with null. An entry that a map does not have is an error.
//   - Quantities are texts in canonical form. quantity(a) < quantity(b) compares
//     them.
//   - Ports by number or name are an int or a string: they can be compared, be
//     looked for in lists, and be converted with int and string.
//   - containers(object.spec) is the list of all init containers, containers and
//     ephemeral containers.
//   - Maps are gone through in the order of their keys.
//
// Of CEL there are the operators, the macros has, all, exists, exists_one, map
// and filter, and the functions size, contains, startsWith, endsWith, matches,
// int, string, duration, timestamp and those that get parts of times and
// durations, in UTC. Nothing reads a clock, chance or the machine.
//
// # What bounds them
//
// The length and depth of an expression are bounded, and what it may cost by
// an estimate (compile.go). While it is asked each step is counted in units
// that are the same on every machine; it fails when they reach MaxCost. CEL's
// own count takes an operation's cost after it, and some for less than they
// are. So operations that go through much for one step are counted before
// (ahead.go), texts of the pod that are very long cannot be read, and what
// could make a value grow without being counted is refused when the expression
// is compiled (rules.go): sums of lists, and comparing lists and objects.
package condition
