// Package request declares the fields of the question itself, each with its Go type: for
// example the hook, the source of the pod and the time.
//
//	var changed = request.Changed()
//
//	func judge() filter.Verdict {
//		if changed.Has(request.Images) {
//			…
//
// Comes in: declarations, as package variables; each uses one of the plugin's 64 fields.
// Goes out: values, while a pod is judged. It runs on the one goroutine of the agent's
// call.
package request
