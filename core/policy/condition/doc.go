// Package condition compiles and evaluates the conditions of policies: expressions
// in CEL (cel.dev) about the pod that is judged. A policy is asked only if all its
// conditions are true.
//
// Inputs: expressions (Compile), and for each decision the facts that are known
// before any policy is asked (Request). Outputs: whether a condition is true, and
// the cost of its evaluation (Condition.Matches).
//
// The package starts no goroutine. A Condition is safe for concurrent use. An Input
// belongs to one decision and must be used by one goroutine. Pods are only read.
//
// # What expressions see
//
// object is the pod, oldObject the pod that was admitted before, and request has
// the fields of that name in docs/abi.md, except references. Names are those of the
// manifest, without kind, apiVersion, status and metadata.managedFields. Everything
// has a type: an unknown name is refused when the expression is compiled.
//
//   - A field that is not set reads as the zero value of its type: false, 0, an empty
//     text, list or map, or a time of 1970. This also applies below an object that is
//     not set. has(object.spec.hostUsers) reports whether a field is set, and an object
//     may be compared with null. Reading an entry that a map does not have is an error.
//   - Quantities are texts in canonical form. quantity(a) < quantity(b) compares
//     them.
//   - Ports by number or name are an int or a string. They can be compared, looked
//     for in lists, and converted with int and string.
//   - containers(object.spec) is the list of all init containers, containers and
//     ephemeral containers.
//   - Iteration over a map is in the order of its keys.
//
// Of CEL, expressions may use the operators, the macros has, all, exists,
// exists_one, map and filter, and the functions size, contains, startsWith,
// endsWith, matches, int, string, duration, timestamp and those that return parts
// of times and durations, in UTC. No function reads a clock, random numbers or the
// machine.
//
// # What bounds them
//
// The length and depth of an expression are bounded, and so is an estimate of its
// cost (compile.go). During the evaluation each step is counted in units that are
// the same on every machine; the evaluation fails when the count reaches MaxCost.
// CEL itself counts an operation only after its execution, and counts too little
// for some. So the cost of operations that do much work in one step is counted
// before they are executed (ahead.go), and very long texts of the pod cannot be
// read. Operations that could make a value grow without being counted are refused
// when the expression is compiled (rules.go): sums of lists, and comparisons of
// lists and objects.
package condition
