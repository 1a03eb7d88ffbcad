// Package metrics is what the agent measures of itself, for Prometheus.
//
// Comes in: what happens, through methods that other packages know as small
// interfaces of their own; and what is, which is read when somebody asks. Goes
// out: text, from the handler of a registry of its own. Names are a kubelet's
// where the same thing is measured, and begin with wardlet_ elsewhere;
// docs/metrics.md lists them. What nobody feeds is not there.
//
// Whatever the names are made of, there is a bound to how many there can be:
// names of tenants' policies are counted up to a limit, and together beyond it,
// and reasons that plugins can choose are only told where they are known.
//
// Serve owns the goroutines of its HTTP server and waits for them. All else is
// safe for concurrent use, and does not block.
package metrics
