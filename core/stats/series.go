package stats

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// second is one second in nanoseconds, the unit of CPU times.
const second = float64(time.Second)

// family describes the series of one metric.
type family struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}

func gauge(name, help string, labels ...string) family {
	return family{prometheus.NewDesc(name, help, labels, nil), prometheus.GaugeValue}
}

func counter(name, help string, labels ...string) family {
	return family{prometheus.NewDesc(name, help, labels, nil), prometheus.CounterValue}
}

// series receives the values of one scrape.
type series chan<- prometheus.Metric

// add adds a value with the time when it was measured, zero for none.
func (s series) add(f *family, at time.Time, value float64, labels ...string) {
	metric, err := prometheus.NewConstMetric(f.desc, f.kind, value, labels...)
	switch {
	case err != nil:
		metric = prometheus.NewInvalidMetric(f.desc, err)
	case !at.IsZero():
		metric = prometheus.NewMetricWithTimestamp(at, metric)
	}
	s <- metric
}

// maybe is like add for a value that may be unknown. The value is divided by unit.
func (s series) maybe(f *family, at time.Time, value *uint64, unit float64, labels ...string) {
	if value != nil {
		s.add(f, at, float64(*value)/unit, labels...)
	}
}

// scraper makes the answer of one scrape.
type scraper struct {
	ctx     context.Context
	collect func(context.Context, series)
}

// Describe implements prometheus.Collector. It describes nothing, so series are not checked before
// they are collected.
func (scraper) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (s scraper) Collect(into chan<- prometheus.Metric) { s.collect(s.ctx, into) }

// scrapes returns a handler that serves what collect adds.
func (s *Stats) scrapes(collect func(context.Context, series)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		registry := prometheus.NewRegistry()
		if err := registry.Register(scraper{req.Context(), collect}); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		promhttp.HandlerFor(registry, promhttp.HandlerOpts{
			ErrorLog: slog.NewLogLogger(s.cfg.Logger.Handler(), slog.LevelWarn), ErrorHandling: promhttp.ContinueOnError, DisableCompression: true,
		}).ServeHTTP(w, req)
	})
}
