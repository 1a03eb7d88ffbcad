// Package review re-evaluates running pods that were admitted by other sets than those in
// force: it shows which policies these pods violate, and evicts them if a policy says so.
//
// Comes in: the running pods (Running); the sets in force; answers of the engine
// (Engine); confirmations. Goes out: violations and events of pods, and evictions.
//
// # Goroutine
//
// Reviewer.Run is the one goroutine; other packages only call Wake, Confirm and Show. It
// asks one question of each tenant at a time, in the same queue as all other questions.
//
// # Evictions are limited
//
// A policy evicts one pod in 10 s, and at most a tenth of the pods that it judges until it
// is confirmed (limiter.go). The number is written to the disk before a pod is evicted. The
// pod is judged once more just before.
package review
