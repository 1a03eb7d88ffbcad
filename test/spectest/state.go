package spectest

import (
	"crypto/sha256"
	"fmt"
	"reflect"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// states records the current state of all instances.
func (r *runner) states() error {
	for _, i := range r.instances {
		s := State{File: r.file, Line: i.line, Memory: showMemory(i.module.Memory())}
		inner, ok := i.module.(experimental.InternalModule)
		if !ok {
			return fmt.Errorf("line %d: wazero does not show the globals of an instance: %T is no experimental.InternalModule", i.line, i.module)
		}
		for n := range inner.NumGlobal() {
			g := inner.Global(n)
			if g.Type() != typeV128 {
				s.Globals = append(s.Globals, show(typeName(g.Type()), []uint64{g.Get()}, nil))
				continue
			}
			r.result.Halves = append(r.result.Halves, fmt.Sprintf("%s:%d global %d", r.file, i.line, n))
			s.Globals = append(s.Globals, fmt.Sprintf("lower half of a v128: %#x", g.Get()))
		}
		r.result.States = append(r.result.States, s)
	}
	return nil
}

// showMemory returns the size and the digest of a memory. If there is no memory, wazero returns an
// interface that is not nil but contains a nil pointer.
func showMemory(m api.Memory) string {
	if m == nil || reflect.ValueOf(m).IsNil() {
		return "none"
	}
	content, ok := m.Read(0, m.Size())
	if !ok {
		return "unreadable"
	}
	return fmt.Sprintf("%d bytes %x", len(content), sha256.Sum256(content))
}
