package rivals

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// RegoWasm is the rule as OPA compiles it to WebAssembly. wazero runs it through the one-call entry
// point that OPA has since version 1.2 of its ABI.
type RegoWasm struct {
	runtime wazero.Runtime
	memory  api.Memory
	eval    api.Function
	stack   [7]uint64
	// heap is the address of the input, above everything that the policy keeps.
	heap uint32
}

// NewRegoWasm compiles the rule. It must be closed.
func NewRegoWasm(ctx context.Context) (_ *RegoWasm, err error) {
	compiled, err := rego.New(rego.Query("result = "+regoQuery), rego.Module("rule.rego", regoRule)).Compile(ctx)
	if err != nil {
		return nil, err
	}
	r := &RegoWasm{runtime: wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithDebugInfoEnabled(false))}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close(ctx))
		}
	}()
	policy, err := r.runtime.CompileModule(ctx, compiled.Bytes)
	if err != nil {
		return nil, err
	}
	if err := r.offer(ctx, policy); err != nil {
		return nil, err
	}
	module, err := r.runtime.InstantiateModule(ctx, policy, wazero.NewModuleConfig().WithName("policy"))
	if err != nil {
		return nil, err
	}
	r.memory = r.runtime.Module(glueName).Memory()
	if r.eval = module.ExportedFunction("opa_eval"); r.eval == nil {
		return nil, errors.New("the policy has no opa_eval")
	}
	heap, err := module.ExportedFunction("opa_heap_ptr_get").Call(ctx)
	if err != nil {
		return nil, err
	}
	r.heap = uint32(heap[0])
	return r, nil
}

// offer adds the memory and the functions that a policy imports.
func (r *RegoWasm) offer(ctx context.Context, policy wazero.CompiledModule) error {
	builder := r.runtime.NewHostModuleBuilder(hostName)
	for _, f := range policy.ImportedFunctions() {
		_, name, _ := f.Import()
		never := api.GoModuleFunc(func(context.Context, api.Module, []uint64) {
			panic(fmt.Errorf("the policy calls %s", name)) // a panic terminates the call
		})
		builder.NewFunctionBuilder().WithGoModuleFunction(never, f.ParamTypes(), f.ResultTypes()).Export(name)
	}
	if _, err := builder.Instantiate(ctx); err != nil {
		return err
	}
	memories := policy.ImportedMemories()
	if len(memories) != 1 {
		return fmt.Errorf("the policy imports %d memories", len(memories))
	}
	_, err := r.runtime.InstantiateWithConfig(ctx, glue(policy.ImportedFunctions(), memories[0].Min()), wazero.NewModuleConfig().WithName(glueName))
	return err
}

// Close releases the policy's resources.
func (r *RegoWasm) Close(ctx context.Context) error { return r.runtime.Close(ctx) }

// Allowed evaluates a pod that is already JSON.
func (r *RegoWasm) Allowed(ctx context.Context, pod []byte) (bool, error) {
	end := r.heap + uint32(len(pod))
	if short := int64(end) - int64(r.memory.Size()); short > 0 {
		if _, ok := r.memory.Grow(uint32((short + 65535) / 65536)); !ok {
			return false, errors.New("there is no room for the pod")
		}
	}
	if !r.memory.Write(r.heap, pod) {
		return false, errors.New("the pod lies outside of the memory")
	}
	// Reserved, entrypoint, data, input, length of the input, heap, format JSON.
	r.stack = [7]uint64{0, 0, 0, uint64(r.heap), uint64(len(pod)), uint64(end), 0}
	if err := r.eval.CallWithStack(ctx, r.stack[:]); err != nil {
		return false, err
	}
	const longest = 64
	text, ok := r.memory.Read(uint32(r.stack[0]), min(longest, r.memory.Size()-uint32(r.stack[0])))
	if !ok {
		return false, errors.New("the result lies outside of the memory")
	}
	text, _, _ = bytes.Cut(text, []byte{0})
	switch string(text) {
	case `[{"result":true}]`:
		return true, nil
	case `[{"result":false}]`:
		return false, nil
	}
	return false, fmt.Errorf("the rule gives %s", text)
}
