// Package request declares what the agent says of the question itself, each
// with its type: which hook it is, where the pod comes from, when it is asked.
//
//	var changed = request.Changed()
//
//	func judge() filter.Verdict {
//		if changed.Has(request.Images) {
//			…
//
// Comes in: declarations, as package variables; each counts as a field of the
// plugin's 64. Goes out: values, while a pod is judged. It runs on the one
// goroutine of the agent's call.
package request
