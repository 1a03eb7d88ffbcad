package compile

import (
	"crypto/sha256"
	"errors"
	"fmt"
)

// Source is a module that is to be had as code.
type Source struct {
	Digest Digest
	// Module returns the module, where it must be compiled. What it returns is not
	// changed.
	Module func() ([]byte, error)
}

// Whole is the source of a module that is at hand.
func Whole(module []byte) Source {
	return Source{sha256.Sum256(module), func() ([]byte, error) { return module, nil }}
}

// ErrAnother is that a source has another module than its digest says.
var ErrAnother = errors.New("the module is another than its digest says")

// read returns the module.
func (s *Source) read() ([]byte, error) {
	module, err := s.Module()
	switch {
	case err != nil:
		return nil, err
	case len(module) > maxModule:
		return nil, fmt.Errorf("the module has %d bytes: at most %d are compiled", len(module), maxModule)
	case sha256.Sum256(module) != s.Digest:
		return nil, ErrAnother
	}
	return module, nil
}
