package stats

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
)

// second is one second in nanoseconds, the unit of CPU times.
const second = float64(time.Second)

// family describes the series of one metric.
type family struct {
	name, help string
	kind       dto.MetricType
	// labels are the names of the labels. sorted are their positions in the order of their names.
	labels []string
	sorted []int
}

func gauge(name, help string, labels ...string) family {
	return newFamily(name, help, dto.MetricType_GAUGE, labels)
}

func counter(name, help string, labels ...string) family {
	return newFamily(name, help, dto.MetricType_COUNTER, labels)
}

func newFamily(name, help string, kind dto.MetricType, labels []string) family {
	f := family{name: name, help: help, kind: kind, labels: labels}
	for i := range labels {
		f.sorted = append(f.sorted, i)
	}
	slices.SortFunc(f.sorted, func(a, b int) int { return cmp.Compare(labels[a], labels[b]) })
	return f
}

// series are the values of one scrape, by the name of their family. A registry would check each of
// them against all others with each scrape, which costs more than to measure them: here the
// families are constants, and each series is added once.
type series map[string]*dto.MetricFamily

// add adds a value with the time when it was measured, zero for none. labels are in the order of the
// family's.
func (s series) add(f *family, at time.Time, value float64, labels ...string) {
	all := s[f.name]
	if all == nil {
		all = &dto.MetricFamily{Name: &f.name, Help: &f.help, Type: &f.kind}
		s[f.name] = all
	}
	pairs := make([]dto.LabelPair, len(f.sorted))
	metric := &dto.Metric{Label: make([]*dto.LabelPair, len(pairs))}
	for i, at := range f.sorted {
		pairs[i].Name, pairs[i].Value = &f.labels[at], &labels[at]
		metric.Label[i] = &pairs[i]
	}
	if f.kind == dto.MetricType_COUNTER {
		metric.Counter = &dto.Counter{Value: &value}
	} else {
		metric.Gauge = &dto.Gauge{Value: &value}
	}
	if !at.IsZero() {
		metric.TimestampMs = new(at.UnixMilli())
	}
	all.Metric = append(all.Metric, metric)
}

// maybe is like add for a value that may be unknown. The value is divided by unit.
func (s series) maybe(f *family, at time.Time, value *uint64, unit float64, labels ...string) {
	if value != nil {
		s.add(f, at, float64(*value)/unit, labels...)
	}
}

// scrapes returns a handler that serves what collect adds.
func (s *Stats) scrapes(collect func(context.Context, series)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		gather := func() ([]*dto.MetricFamily, error) {
			out := series{}
			collect(req.Context(), out)
			return slices.SortedFunc(maps.Values(out), func(a, b *dto.MetricFamily) int { return cmp.Compare(a.GetName(), b.GetName()) }), nil
		}
		promhttp.HandlerFor(prometheus.GathererFunc(gather), promhttp.HandlerOpts{
			ErrorLog: slog.NewLogLogger(s.cfg.Logger.Handler(), slog.LevelWarn), ErrorHandling: promhttp.ContinueOnError, DisableCompression: true,
		}).ServeHTTP(w, req)
	})
}
