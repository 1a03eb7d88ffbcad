package author

import (
	"context"
	"errors"

	"github.com/wardlet/wardlet/core/config"
)

// MeasurePolicies measures the policies of a directory, or of a document, in a new sandbox.
// Groups have no plugin to measure. The error has the reasons why policies cannot be
// measured.
func MeasurePolicies(ctx context.Context, cfg *config.Config, path string, o BenchOptions) (all []*Bench, err error) {
	err = withDrafts(ctx, cfg, path, draftNode, func(drafts []*Draft, _ *pluginLines) error {
		var faults []error
		for _, d := range drafts {
			if d.Group() && len(drafts) > 1 {
				continue // its members are measured
			}
			b, err := Measure(ctx, d, o)
			if err != nil {
				faults = append(faults, err)
				continue
			}
			all = append(all, b)
		}
		return errors.Join(faults...)
	})
	return all, err
}
