package wasm

import "github.com/tetratelabs/wazero/api"

// snapshot is what an instance is put back to after each call: its whole
// linear memory and its mutable globals.
type snapshot struct {
	memory  *linearMemory
	size    int
	globals []api.MutableGlobal
	values  []uint64
}

func takeSnapshot(memory *linearMemory, size int, globals []api.MutableGlobal) (*snapshot, error) {
	s := &snapshot{memory: memory, size: size, globals: globals}
	for _, g := range globals {
		s.values = append(s.values, g.Get())
	}
	return s, memory.freeze(size)
}

// restore puts memory and globals back.
func (s *snapshot) restore() error {
	for i, g := range s.globals {
		g.Set(s.values[i])
	}
	return s.memory.thaw(s.size)
}
