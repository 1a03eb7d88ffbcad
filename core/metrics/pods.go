package metrics

// PodCounts are the numbers of pods and containers.
type PodCounts struct {
	// Desired and Active are by whether the pods are static. Active pods may use the node.
	Desired, Active map[bool]int
	// Mirrors is the number of mirror pods, which show static pods at the API server.
	Mirrors int
	// Running is the number of pods with a ready sandbox.
	Running int
	// Containers are by their state: running, exited, created, unknown.
	Containers map[string]int
	// Working are the pods that have a worker, or run without one.
	Working map[Work]int
}

// Work is the state of a pod's worker.
type Work struct {
	// Lifecycle is sync, terminating or terminated.
	Lifecycle string
	// Config is desired, orphan (no longer desired) or runtime_only (known only from the runtime).
	Config string
	// Static is "true", "", or, with runtime_only, "unknown".
	Static string
}

// The values of Work.
const (
	WorkSync        = "sync"
	WorkTerminating = "terminating"
	WorkTerminated  = "terminated"

	WorkDesired     = "desired"
	WorkOrphan      = "orphan"
	WorkRuntimeOnly = "runtime_only"

	// WorkStatic and WorkUnknown are values of Static.
	WorkStatic  = "true"
	WorkUnknown = "unknown"
)

// containerStates are the keys of PodCounts.Containers.
var containerStates = []string{"created", "exited", "running", "unknown"}

// Pods adds the metrics of pods. It calls read at each scrape.
func (m *Metrics) Pods(read func() PodCounts) {
	var (
		desired    = describe(kubelet, "desired_pods", "Pods that sources want.", "static")
		active     = describe(kubelet, "active_pods", "Pods that may use the node: they are to run, or are being ended.", "static")
		mirrors    = describe(kubelet, "mirror_pods", "Mirror pods that the API server has.")
		running    = describe(kubelet, "running_pods", "Pods with a sandbox that is ready.")
		containers = describe(kubelet, "running_containers", "Containers that the runtime has.", "container_state")
		working    = describe(kubelet, "working_pods", "Pods with a worker, or that run without one: how far they are, and whether they are desired.", "lifecycle", "config", "static")
	)
	m.add(func(tell tell) {
		c := read()
		for _, static := range []bool{false, true} {
			tell.gauge(desired, float64(c.Desired[static]), isTrue(static))
			tell.gauge(active, float64(c.Active[static]), isTrue(static))
		}
		tell.gauge(mirrors, float64(c.Mirrors))
		tell.gauge(running, float64(c.Running))
		for _, state := range containerStates {
			tell.gauge(containers, float64(c.Containers[state]), state)
		}
		for _, lifecycle := range []string{WorkSync, WorkTerminating, WorkTerminated} {
			for _, w := range []Work{
				{lifecycle, WorkDesired, ""},
				{lifecycle, WorkDesired, WorkStatic},
				{lifecycle, WorkOrphan, ""},
				{lifecycle, WorkOrphan, WorkStatic},
				{lifecycle, WorkRuntimeOnly, WorkUnknown},
			} {
				tell.gauge(working, float64(c.Working[w]), w.Lifecycle, w.Config, w.Static)
			}
		}
	}, desired, active, mirrors, running, containers, working)
}
