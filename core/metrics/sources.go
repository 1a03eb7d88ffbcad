package metrics

import (
	"github.com/wardlet/wardlet/core/api"
)

// Sources adds the metrics of each configured source. It calls read at each scrape.
func (m *Metrics) Sources(read func() []api.SourceState) {
	var (
		up        = describe(wardlet, "source_up", "Whether the source could be read when it was read last.", "source", "kind")
		seen      = describe(wardlet, "source_seen", "Whether the source has been read at all; until then nothing that runs from it is ended.", "source", "kind")
		documents = describe(wardlet, "source_documents", "Documents the source holds.", "source", "kind")
		bad       = describe(wardlet, "source_bad_documents", "Documents of the source that cannot be used.", "source", "kind")
		last      = describe(wardlet, "source_last_read_timestamp_seconds", "When the source was last read without an error, 0 for never.", "source", "kind")
	)
	m.add(func(tell tell) {
		for _, s := range read() {
			tell.gauge(up, bit(s.Err == "" && s.Seen), s.Name, s.Kind)
			tell.gauge(seen, bit(s.Seen), s.Name, s.Kind)
			tell.gauge(documents, float64(s.Documents), s.Name, s.Kind)
			tell.gauge(bad, float64(s.Bad), s.Name, s.Kind)
			tell.gauge(last, timestamp(s.LastRead), s.Name, s.Kind)
		}
	}, up, seen, documents, bad, last)
}
