// Package merge answers the agent's question which of several documents that
// describe one pod shall win. A plugin that imports it has the hook "merge".
//
// Comes in: a Policy, made by the function that was passed to Register. Goes out: its
// Verdict, with warnings, annotations, an explanation, and a patch of the winner. The
// policy is called on the one goroutine of the agent's call, whenever the candidates for a
// pod have changed.
//
// The candidates are numbered from 0, sorted by the rank of their sources in agent.toml,
// then by source and document, never by time. A policy declares the fields of the
// candidates that it reads:
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
// In a merge, fields of sdk.Object are missing, and fields of sdk.OldObject are those of
// the running pod.
package merge
