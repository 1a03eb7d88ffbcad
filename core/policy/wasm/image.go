package wasm

import (
	"context"

	"github.com/tetratelabs/wazero/api"

	"github.com/wardlet/wardlet/core/policy/wasm/memory"
)

// image is the state of a plugin after its initialisation: every instance begins
// with it and is reset to it.
type image struct {
	// snapshot is the linear memory, nil if it has no pages. pages is its number of
	// pages.
	snapshot *memory.Snapshot
	pages    uint32
	// globals are the values of the module's own mutable globals.
	globals []uint64
	// wants is what the guest declared. input is the address of the area to which
	// the host writes the record. capacity is how many bytes of record fit into
	// that area.
	wants    projection
	input    uint32
	capacity uint32
	hasInput bool
}

// capture makes the image from an instance that has initialised itself.
func (i *instance) capture() error {
	img := &i.plugin.image
	img.pages = i.memory.Size() / pageSize
	for _, g := range i.globals {
		img.globals = append(img.globals, g.Get())
	}
	var err error
	if img.snapshot, err = i.linear.Capture(); err != nil {
		return failf(HostError, "remember the plugin's memory: %w", err)
	}
	i.doubt()
	return nil
}

// adopt sets an instance to the state of the image, without running any of its
// code.
func (i *instance) adopt(img *image) error {
	if has := i.memory.Size() / pageSize; has < img.pages {
		if _, ok := i.memory.Grow(img.pages - has); !ok {
			return failf(HostError, "the memory cannot grow to the %d pages it had", img.pages)
		}
	}
	if err := i.linear.Adopt(img.snapshot); err != nil {
		return failf(HostError, "map the plugin's memory: %w", err)
	}
	i.restoreGlobals()
	return nil
}

func (i *instance) restoreGlobals() {
	for n, g := range i.globals {
		g.Set(i.plugin.image.globals[n])
	}
}

// release frees the snapshot.
func (img *image) release() {
	if img.snapshot != nil {
		img.snapshot.Release()
	}
}

// findInput asks the guest for the address of its input area.
func (i *instance) findInput(ctx context.Context) error {
	const header = 8
	img := &i.plugin.image
	if i.module.ExportedFunction("wardlet_input") == nil {
		if img.wants.recorded > 0 {
			return failf(AbiMismatch, "the plugin declares paths, but exports no function wardlet_input")
		}
		return nil
	}
	address, err := i.enter(ctx, "wardlet_input")
	if err != nil {
		return err
	}
	img.input, img.hasInput = uint32(address), true
	capacity, ok := i.memory.ReadUint32Le(img.input)
	img.capacity = capacity
	if end := uint64(img.input) + header + uint64(capacity); !ok || end > uint64(i.memory.Size()) {
		return failf(BadOutput, "wardlet_input names an area of %d bytes at %#x, the memory has %d", capacity, img.input, i.memory.Size())
	}
	return nil
}

// global returns a mutable global that the module exports.
func global(m api.Module, name string) (api.MutableGlobal, error) {
	g, ok := m.ExportedGlobal(name).(api.MutableGlobal)
	if !ok {
		return nil, failf(HostError, "global %s cannot be reached", name)
	}
	return g, nil
}
