// Package sched shares the evaluators fairly between tenants: a queue of questions, and
// what each tenant may spend in fuel.
//
// Comes in: tasks, and what they cost. Goes out: the next task, for the evaluator that
// takes it; how long a tenant without fuel waits. It starts no goroutine: Queue.Take and
// Queue.Yield block the evaluator that calls them.
package sched
