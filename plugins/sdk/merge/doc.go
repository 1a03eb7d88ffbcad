// Package merge answers the agent's question which of several documents that
// describe one pod shall win. A plugin that imports it has the hook "merge".
//
// Comes in: a Policy, made by the function that Register was given. Goes out:
// its Verdict, with warnings, annotations, an explanation, and a patch of the
// winner. The policy is called on the one goroutine of the agent's call,
// whenever the candidates for a pod have changed.
//
// The candidates are numbered from 0, sorted by the rank of their sources in
// agent.toml, then by source and document, never by the time they came. What a
// policy wants to know of them it declares:
//
//	var (
//		source  = merge.Source()
//		running = merge.Running()
//	)
//
//	func choose() merge.Verdict {
//		for i := range source.Len() {
//			if source.Of(i) == "static" {
//				return merge.Win(i)
//			}
//		}
//		return merge.Abstain()
//	}
//
// sdk.Object has no value in a merge; sdk.OldObject is the pod that runs.
package merge
