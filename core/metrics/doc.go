// Package metrics is what the agent measures of itself, for Prometheus.
//
// Comes in: what happens, through methods that other packages know as small
// interfaces of their own; and what is, which is read at each scrape. Goes out:
// text, from the handler of a registry of its own. A name is a kubelet's if a
// kubelet measures the same thing, and begins with wardlet_ otherwise;
// docs/metrics.md lists them. A metric that no package feeds is not there.
//
// Whatever the names are made of, there is a bound to how many there can be:
// names of tenants' policies are counted up to a limit, and together beyond it.
// Of the reasons that plugins can choose, only known ones are counted apart.
//
// Serve owns the goroutines of its HTTP server and waits for them. All else is
// safe for concurrent use, and does not block.
package metrics
