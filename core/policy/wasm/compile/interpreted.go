package compile

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
)

// probe is a module of one function that does nothing.
var probe = []byte("\x00asm\x01\x00\x00\x00" + // header
	"\x01\x04\x01\x60\x00\x00" + // a type () -> ()
	"\x03\x02\x01\x00" + // a function of it
	"\x0a\x04\x01\x02\x00\x0b") // its code

// interprets reports whether a configuration means wazero's interpreter. wazero
// uses it by itself if it has no compiler: on other architectures than amd64 and
// arm64, on processors without SSE 4.1, and where the system does not allow
// executable memory. It does not report which it uses. So interprets compiles a
// module with a context that has ended, which only the interpreter does.
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
