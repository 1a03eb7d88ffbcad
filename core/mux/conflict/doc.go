// Package conflict decides which document may run if documents of several sources claim one
// identity.
//
// Input: which sources claim which identity, from the mux; answers of the Resolver; and after a
// restart the answers from the disk. Output: for each Contest the claimant that runs, by the
// Resolver's answer or by the rule of the node; and an Output with the questions to ask and the
// answers to store.
//
// An answer applies to one set of claimants: their sources, documents and instances. It is valid
// until the set of claimants or the Resolver's policies change.
//
// A Table starts no goroutine. Its owner must not call it concurrently.
package conflict
