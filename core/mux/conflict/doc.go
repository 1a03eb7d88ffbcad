// Package conflict decides who may run where documents of several sources claim one
// identity.
//
// Comes in: which identities are claimed by whom, from the mux; answers of the Resolver;
// and after a restart the answers that the disk has. Goes out: for each Contest which
// claimant runs, by the Resolver's answer or by the rule of the node; and an Output with
// the questions to ask and the answers to keep.
//
// An answer is one to a set of claimants: their sources, documents and instances. It
// counts until another one claims, or the Resolver's policies change.
//
// A Table has no goroutine. Its owner calls it from one at a time.
package conflict
