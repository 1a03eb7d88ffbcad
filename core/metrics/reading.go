package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
)

// reading is a collector of metrics that are read at each scrape.
type reading struct {
	families []*prometheus.Desc
	read     func(tell tell)
}

// tell reports a value of a metric family, with the values of its labels.
type tell func(family *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string)

// Describe implements prometheus.Collector.
func (r *reading) Describe(into chan<- *prometheus.Desc) {
	for _, family := range r.families {
		into <- family
	}
}

// Collect implements prometheus.Collector.
func (r *reading) Collect(into chan<- prometheus.Metric) {
	r.read(func(family *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
		metric, err := prometheus.NewConstMetric(family, kind, value, labels...)
		if err != nil {
			metric = prometheus.NewInvalidMetric(family, err)
		}
		into <- metric
	})
}

// describe returns the description of a metric family.
func describe(subsystem, name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(subsystem+"_"+name, help, labels, nil)
}

// gauge reports a gauge.
func (t tell) gauge(family *prometheus.Desc, value float64, labels ...string) {
	t(family, prometheus.GaugeValue, value, labels...)
}

// bit returns 1 for true, 0 for false.
func bit(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// add registers metric families that are read at each scrape.
func (m *Metrics) add(read func(tell tell), families ...*prometheus.Desc) {
	m.registry.MustRegister(&reading{families, read})
}
