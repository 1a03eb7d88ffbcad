package metrics

import (
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// Terminations count the containers that have ended.
type Terminations struct {
	total   *prometheus.CounterVec
	reasons *names
}

// maxReasons is how many reasons are counted apart. Runtimes know about half a
// dozen.
const maxReasons = 16

// Terminations adds their metric.
func (m *Metrics) Terminations() *Terminations {
	t := &Terminations{
		total:   counters(kubelet, "terminated_containers_total", "Containers that were seen to have ended.", "container_type", "exit_code", "reason"),
		reasons: newNames(maxReasons),
	}
	m.registry.MustRegister(t.total)
	return t
}

// Terminated counts a container that has ended, by its exit code and the reason that
// its status shows. Codes with which no process of Linux ends count as one.
func (t *Terminations) Terminated(code int32, reason string) {
	exit := other
	if code >= 0 && code <= 255 {
		exit = strconv.Itoa(int(code))
	}
	t.total.WithLabelValues(containerType, exit, t.reasons.of(strings.ToValidUTF8(reason, ""))).Inc()
}
