package compile

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero"

	"github.com/wardlet/wardlet/core/printable"
)

// Source is a module for which code is wanted.
type Source struct {
	Digest Digest
	// Module returns the module. It is called only if the module must be compiled.
	// The result is not changed.
	Module func() ([]byte, error)
}

// Whole returns the source of a module that is in memory.
func Whole(module []byte) Source {
	return Source{sha256.Sum256(module), func() ([]byte, error) { return module, nil }}
}

// ErrAnother is the error if a source returns another module than that of its
// digest.
var ErrAnother = errors.New("the module does not match its digest")

// read returns the module, and checks its length and digest.
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

// probe is a module of one function that does nothing.
var probe = []byte("\x00asm\x01\x00\x00\x00" + // header
	"\x01\x04\x01\x60\x00\x00" + // a type () -> ()
	"\x03\x02\x01\x00" + // a function of it
	"\x0a\x04\x01\x02\x00\x0b") // its code

// interprets reports whether a configuration selects wazero's interpreter. wazero
// uses the interpreter by itself if it has no compiler: on architectures other than
// amd64 and arm64, on processors without SSE 4.1, and if the system does not allow
// executable memory. wazero does not report which engine it uses. So interprets
// compiles a module with a context that is done: that succeeds only with the
// interpreter.
func interprets(config wazero.RuntimeConfig) (bool, error) {
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, config)
	_, err := r.CompileModule(neverCompile(ctx), probe)
	err = errors.Join(err, r.Close(ctx))
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, errNotCached):
		return false, nil
	}
	return false, fmt.Errorf("find out whether there is a compiler: %w", err)
}

// maxText is the longest text about one module, in bytes.
const maxText = 512

// oneLine returns the first line of a text, bounded and safe to show.
func oneLine(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return printable.Short(strings.TrimSpace(text), maxText)
}
