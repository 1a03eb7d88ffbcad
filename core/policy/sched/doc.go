// Package sched shares the evaluators fairly between tenants. It has a queue of questions,
// and the budget of fuel of each tenant.
//
// Comes in: tasks, and what they cost. Goes out: the next task, for the evaluator that
// takes it; how long a tenant without fuel waits. It starts no goroutine: Queue.Take and
// Queue.Yield block the evaluator that calls them.
package sched
