// Package patch writes the changes of a pod that a policy proposes, as operations of RFC
// 6902, JSON Patch. admit.Patch and merge.Patch hand them to the agent.
//
//	admit.Patch(
//		patch.Add(patch.Path("metadata", "labels", "example.org/team"), patch.String("shop")),
//		patch.Remove("/spec/hostNetwork"),
//	)
//
// Comes in: paths and values. Goes out: JSON text. The package owns no
// goroutine and no state, and imports nothing large.
package patch
