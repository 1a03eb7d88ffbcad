package http

import "context"

// deliver hands a reading over.
func (s *Source) deliver(ctx context.Context, r reading) error {
	if r.whole {
		return s.cfg.Sink.Replace(ctx, r.docs)
	}
	return s.cfg.Sink.Apply(ctx, r.docs, nil)
}
