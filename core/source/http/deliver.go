package http

import "context"

// deliver delivers a reading to the sink.
func (s *Source) deliver(ctx context.Context, r reading) error {
	if r.whole {
		return s.cfg.Sink.Replace(ctx, r.docs)
	}
	return s.cfg.Sink.Apply(ctx, r.docs, nil)
}
