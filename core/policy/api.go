package policy

import (
	"errors"
	"fmt"

	"github.com/wardlet/wardlet/core/strict"
)

// apiVersion is the value of the key api. It decodes only if this agent knows
// it.
type apiVersion string

const apiV1 apiVersion = "wardlet.dev/v1"

// UnmarshalText implements encoding.TextUnmarshaler.
func (v *apiVersion) UnmarshalText(text []byte) error {
	if string(text) != string(apiV1) {
		return fmt.Errorf("%q is not supported in this version; want %q", text, apiV1)
	}
	*v = apiV1
	return nil
}

// ofAPI reduces the faults of a document to the one that explains the others:
// the document is of another version, or no policy at all.
func (d *document) ofAPI(err error) error {
	faults, ok := errors.AsType[strict.Errors](err)
	if !ok {
		return err
	}
	for _, f := range faults {
		if f.Key == "api" {
			return strict.Errors{f}
		}
		if f.Key == "" {
			return err // it could not be read that far
		}
	}
	if d.API == apiV1 {
		return err
	}
	return strict.Errors{{
		File: d.file, Key: "api",
		Message: fmt.Sprintf("missing; a policy begins with api = %q, and other TOML files do not belong into this directory", apiV1),
	}}
}
