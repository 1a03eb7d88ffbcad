package bare

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/wardlet/wardlet/core/policy/wasm/memory"
)

// Guest is an instance of a module.
type Guest struct {
	module api.Module
	memory api.Memory
	admit  api.Function
	// linear is the guest's memory, nil if it is wazero's own.
	linear *memory.Linear
	// tank is nil if the module is not metered.
	tank     *tank
	pod      *Pod
	declared []declared
	// input is the address of the record, 0 if the guest wants no record.
	input  uint32
	record []byte
	ctx    guestContext
	stack  [1]uint64
}

type declared struct {
	value    []byte
	recorded bool
}

// guestContext lets the functions of the ABI find their guest.
type guestContext struct {
	context.Context // a context made for one guest

	guest *Guest
}

func guestOf(ctx context.Context) *Guest { return ctx.(*guestContext).guest } // wazero passes it on

// initFuel is the fuel that a guest may use to initialise itself.
const initFuel = 500_000_000

// Instantiate makes an instance of code, which reads the fields of pod. With a limit in bytes its
// memory can be reset with Reset, as the agent's can; with 0 it is wazero's own.
func (c *Code) Instantiate(ctx context.Context, pod *Pod, limit uint64) (_ *Guest, err error) {
	g := &Guest{pod: pod}
	g.ctx = guestContext{context.Background(), g}
	if limit > 0 {
		if g.linear, err = memory.NewLinear(limit); err != nil {
			return nil, err
		}
		ctx = experimental.WithMemoryAllocator(ctx, g.linear)
	}
	g.module, err = c.runtime.runtime.InstantiateModule(ctx, c.module, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		if g.linear != nil {
			g.linear.Free()
		}
		return nil, err
	}
	g.memory, g.tank = g.module.Memory(), tankOf(g.module)
	if err := g.initialise(); err != nil {
		return nil, errors.Join(err, g.module.Close(ctx))
	}
	return g, nil
}

func (g *Guest) initialise() error {
	for _, name := range []string{"_initialize", "wardlet_init"} {
		if status, err := g.call(name); err != nil || status != 0 {
			return fmt.Errorf("%s gives %d: %w", name, status, err)
		}
	}
	address, err := g.call("wardlet_input")
	if err != nil {
		return err
	}
	g.input = uint32(address)
	recorded := uint16(0)
	for handle, d := range g.declared {
		if d.recorded {
			recorded++
			g.record = append(binary.LittleEndian.AppendUint16(g.record, uint16(handle)), d.value...)
		}
	}
	g.record = append(binary.LittleEndian.AppendUint16(nil, recorded), g.record...)
	if g.admit = g.module.ExportedFunction("wardlet_admit"); g.admit == nil {
		return errors.New("the module has no wardlet_admit")
	}
	if g.linear == nil {
		return nil
	}
	snapshot, err := g.linear.Capture()
	if err == nil {
		snapshot.Release() // the memory keeps it
	}
	return err
}

// call calls one of the guest's functions if the guest exports it.
func (g *Guest) call(name string) (int32, error) {
	f := g.module.ExportedFunction(name)
	if f == nil {
		return 0, nil
	}
	g.stack[0] = 0
	g.tank.fill(initFuel)
	err := f.CallWithStack(&g.ctx, g.stack[:])
	return api.DecodeI32(g.stack[0]), err
}

// Hand writes the record of the pod into the guest's input area.
func (g *Guest) Hand() error {
	if g.input == 0 {
		return nil
	}
	if !g.memory.WriteUint32Le(g.input+4, uint32(len(g.record))) || !g.memory.Write(g.input+8, g.record) {
		return errors.New("the input area lies outside of the memory")
	}
	return nil
}

// Judge returns the result of wardlet_admit: 0 for a pod that is allowed.
func (g *Guest) Judge() (int32, error) {
	g.tank.fill(perCall)
	err := g.admit.CallWithStack(&g.ctx, g.stack[:])
	return api.DecodeI32(g.stack[0]), err
}

// Reset restores the guest's memory.
func (g *Guest) Reset() error {
	if g.linear.Grown() {
		return errors.New("the guest's memory grew")
	}
	_, err := g.linear.Restore()
	return err
}

// Close releases the guest's resources.
func (g *Guest) Close(ctx context.Context) error { return g.module.Close(ctx) }
