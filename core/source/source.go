package source

import (
	"context"

	"github.com/wardlet/wardlet/core/api"
)

// Source is a source of any kind. Run reads and delivers until ctx is done;
// then it ends with nil.
type Source interface {
	Run(ctx context.Context) error
}

// Sink takes what a source reads. Each source has one of its own from the mux.
// A source calls it from one goroutine at a time; Replace and Apply block
// until the mux has taken the delivery (back-pressure, never drops) and fail
// only with the context's error.
type Sink interface {
	// Replace hands over everything the source holds now, bad documents
	// included. What is not named is gone, but for what stood in a manifest that
	// is held (api.HoldSuffix).
	Replace(ctx context.Context, all []api.Document) error
	// Apply hands over a difference: documents that are new or changed, and
	// the IDs of those that are gone. Of a manifest (api.ManifestOf) in which
	// something changed all documents are handed over, and one that is gone is
	// named by its path.
	Apply(ctx context.Context, changed []api.Document, gone []string) error
	// Health says after every reading whether the source itself works: nil
	// when it does, else why its last answer still stands.
	Health(err error)
}
