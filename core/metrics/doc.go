// Package metrics has the agent's metrics for Prometheus.
//
// Comes in: events, through methods that other packages define as small interfaces; and states,
// which are read at each scrape. Goes out: text, from the handler of the package's own registry. A
// metric has a kubelet's name if a kubelet has the same metric, and begins with wardlet_ otherwise;
// docs/metrics.md lists them. A metric that no package feeds is left out.
//
// The number of label values is limited. Names of tenants' policies have their own value up to a
// limit, and share one beyond it. Of the reasons that plugins choose, only known ones have their
// own value.
//
// Serve owns the goroutines of its HTTP server and waits for them. Everything else is safe for
// concurrent use and does not block.
package metrics
