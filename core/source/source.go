package source

import (
	"context"

	"github.com/wardlet/wardlet/core/api"
)

// Source is a source of any kind. Run reads and delivers until ctx is done, and then returns nil.
type Source interface {
	Run(ctx context.Context) error
}

// Sink receives the documents of a source. Each source has its own Sink of the mux. A source calls
// it from one goroutine at a time. Replace and Apply block until the mux has processed the delivery
// (back-pressure, never drops) and fail only with the context's error.
type Sink interface {
	// Replace delivers all current documents of the source, including bad ones. Documents that are
	// not among them are removed, except those of a held manifest (api.HoldSuffix).
	Replace(ctx context.Context, all []api.Document) error
	// Apply delivers a difference: documents that are new or changed, and the IDs of removed ones.
	// If a document of a manifest (api.ManifestOf) changed, all documents of the manifest are
	// delivered. A removed manifest is named by its path.
	Apply(ctx context.Context, changed []api.Document, gone []string) error
	// Health reports, after every reading, whether the source works: err is nil if it does, else
	// the reason why its last answer stays in force.
	Health(err error)
}
