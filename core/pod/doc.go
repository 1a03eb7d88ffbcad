// Package pod contains functions that depend only on a pod: its identity and instance, the
// differences between two versions, its QoS class, its directories, and what it was made from.
//
// Input: a *v1.Pod. The package owns no goroutine and imports nothing of core.
//
// A pod is immutable from the moment a source made it. All parts of the agent share it without
// copying. A part that needs another version makes one with DeepCopy.
package pod
