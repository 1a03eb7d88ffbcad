package metrics

import (
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// Terminations counts the terminated containers.
type Terminations struct {
	total   *prometheus.CounterVec
	reasons *names
}

// maxReasons limits the reasons. Runtimes have about half a dozen.
const maxReasons = 16

// Terminations adds the metric of terminated containers.
func (m *Metrics) Terminations() *Terminations {
	t := &Terminations{
		total:   counters(kubelet, "terminated_containers_total", "Containers that were seen to have ended.", "container_type", "exit_code", "reason"),
		reasons: newNames(maxReasons),
	}
	m.registry.MustRegister(t.total)
	return t
}

// Terminated counts a terminated container, by its exit code and the reason in its status. Exit
// codes that are impossible on Linux are counted together.
func (t *Terminations) Terminated(code int32, reason string) {
	exit := other
	if code >= 0 && code <= 255 {
		exit = strconv.Itoa(int(code))
	}
	t.total.WithLabelValues(containerType, exit, t.reasons.of(strings.ToValidUTF8(reason, ""))).Inc()
}
