package wasm

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"strings"
	"time"

	"github.com/tetratelabs/wazero/api"

	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/policy/wasm/pluginlog"
	"github.com/wardlet/wardlet/core/policy/wasm/safetext"
)

// maxKept is the largest capacity of a buffer that is kept for the next call, in
// bytes.
const maxKept = 256 << 10

// call is the state that host functions work on while the guest runs. Calls of
// hooks reuse it: renew empties it and keeps its buffers.
type call struct {
	ctx context.Context // of the one call under way, for its log lines
	// declared is the projection that the guest declares paths in; nil while it
	// must not declare any.
	declared *abi.Projection
	// refused is the error of the last path that was refused.
	refused error
	// wants are the fields that a hook may get; nil outside of hooks.
	wants     *abi.Projection
	query     abi.Query
	documents abi.Documents
	record    abi.Record
	// steps parses the path of a setting.
	steps  abi.PathSteps
	output output
	// now is the time of the wall clock, which stands still. elapsed is how long
	// the guest has asked to wait since the call began.
	now     time.Time
	elapsed time.Duration
	// random returns the guest's random numbers once seeded is true.
	random rand.ChaCha8
	seeded bool
	// written holds unfinished lines of standard output and of standard error.
	// complaint is the first line of standard error.
	written   [2]pluginlog.Lines
	complaint string
	// fetched is what a hook has fetched in addition to its record.
	fetched abi.Fetched
	// paths is what reads returned last, for the fetches in pathsOf. The next call
	// mostly fetches the same.
	paths   []string
	pathsOf abi.Fetched
}

// startTime is the time that the clock shows while a plugin initialises itself. It
// must be the same on every node; its value does not matter.
var startTime = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

// renew prepares the call for a hook. wants is what the guest declared.
func (c *call) renew(wants *abi.Projection, now time.Time) {
	c.wants, c.now = wants, now
	c.elapsed, c.seeded, c.complaint, c.fetched = 0, false, "", abi.Fetched{}
	c.output = output{}
}

// forget releases the question and what was made for it.
func (c *call) forget() {
	c.ctx, c.wants = nil, nil
	c.query.Reset()
	c.documents.Reset(maxKept)
	c.record.Reset(maxKept)
	c.output = output{}
}

// read fills random with random numbers. In a hook their seed is made of own, the plugin's
// seed, and the whole question. During the initialisation it is own alone. charge is called
// for each document that is encoded as JSON for the seed, see abi.Documents.Seed.
func (c *call) read(own [sha256.Size]byte, random []byte, charge func(encoded int, extra int64)) {
	if !c.seeded {
		seed := own
		if c.wants != nil {
			seed = c.documents.Seed(own, &c.query, charge)
		}
		c.random.Seed(seed)
		c.seeded = true
	}
	_, _ = c.random.Read(random) // never fails
}

// write logs what the guest wrote to its standard output (0) or standard error (1)
// while it was asked about a pod of the tenant.
func (c *call) write(log *pluginlog.Log, tenant string, stream int, data []byte) {
	c.written[stream].Write(data, func(line []byte) { c.line(log, tenant, stream, line) })
}

func (c *call) line(log *pluginlog.Log, tenant string, stream int, line []byte) {
	level := slog.LevelInfo
	if stream == 1 {
		level = slog.LevelWarn
		if c.complaint == "" {
			c.complaint = string(line)
		}
	}
	log.Line(c.ctx, tenant, level, line)
}

// flush logs the lines that did not end with a newline.
func (c *call) flush(log *pluginlog.Log, tenant string) {
	for stream := range c.written {
		c.written[stream].Flush(func(line []byte) { c.line(log, tenant, stream, line) })
	}
}

// reads returns the paths that the guest got. The slice is shared: the caller must
// not change it.
func (c *call) reads() []string {
	if c.wants == nil {
		return nil
	}
	if c.paths == nil || c.fetched != c.pathsOf {
		c.paths, c.pathsOf = c.wants.Reads(&c.fetched), c.fetched
	}
	return c.paths
}

// ask calls a hook with the record of a question: m for the hook merge, r for all
// others. The result is stored in s. The error is a *Failure, ErrNotReady, or the
// cause of ctx. The call stops when ctx is done.
func (p *Plugin) ask(ctx context.Context, hook abi.Hook, r *abi.Request, m *abi.MergeRequest, s *said) error {
	var tenant string
	if m != nil {
		tenant = m.Tenant
	} else {
		tenant = r.Tenant
	}
	if !p.pool.mayAsk(tenant) && !isDryRun(ctx) {
		return ErrNotReady
	}
	return p.askFor(ctx, tenant, p.fuel, hook, r, m, s)
}

// askFor calls a hook as ask does, charges the tenant, and bounds the call by the
// given fuel.
func (p *Plugin) askFor(ctx context.Context, tenant string, fuel int64, hook abi.Hook, r *abi.Request, m *abi.MergeRequest, s *said) (err error) {
	i, err := p.take(ctx)
	if err != nil {
		return err
	}
	i.tenant = tenant
	i.budget.yields, i.budget.beside = 0, 0
	again, dry, handed, made := false, isDryRun(ctx), int64(0), i.made
	i.made = 0
	if dry {
		i.doubt()
	}
	defer func() {
		if r := recover(); r != nil {
			err, again = hostFailed(r), false
		}
		i.call.forget()
		if dry { // so that what it breaks is not charged to the tenant
			i.tenant = noTenant
		}
		s.extra = handed + made + i.budget.extra() + p.give(i, again)
	}()
	f := i.hooks.of(hook)
	if f == nil {
		again = true
		return abi.Failf(abi.AbiMismatch, "the module exports no function %s", abi.Exports[string(hook)])
	}
	i.put(hook, r, m)
	i.begin(ctx)
	defer i.finish()
	err = i.hand()
	handed = i.call.record.Fuel() + i.call.record.Extra // read now, as get writes to the record, too
	if err != nil {
		again = true
		return err
	}
	err = i.run(ctx, f, fuel)
	s.reads = i.call.reads()
	if err != nil {
		again = i.stopped(err)
		return err
	}
	again = true
	s.number, s.fuel, s.output = api.DecodeI32(i.stack[0]), i.budget.used(), i.call.output
	return nil
}

// stopped reports whether the host stopped the call. The instance can then be used
// again after a reset. After a trap in the guest the instance is thrown away.
func (i *instance) stopped(err error) bool {
	failure, ok := err.(*abi.Failure) //nolint:errorlint // its own, not one behind it
	return !ok || failure.Code == abi.FuelExhausted || failure.Code == abi.BadOutput
}

// put prepares the call for a hook and its question.
func (i *instance) put(hook abi.Hook, r *abi.Request, m *abi.MergeRequest) {
	var facts *abi.NodeFacts
	c, p := &i.call, i.plugin
	if m != nil {
		c.renew(&p.image.wants, m.Time)
		c.query.SetMerge(m)
		facts = m.Node
	} else {
		c.renew(&p.image.wants, r.Time)
		c.query.SetPod(hook, r, p.may)
		facts = r.Node
	}
	c.query.SetNode(p.node, facts, p.may)
}

// hand writes the record into the guest's input area.
func (i *instance) hand() error {
	img, r := &i.plugin.image, &i.call.record
	img.wants.Write(r, &i.call.query, int(img.capacity))
	if r.Err != nil {
		return abi.Failf(abi.HostError, "write the fields the plugin declared: %w", r.Err)
	}
	if !img.hasInput {
		return nil
	}
	length := len(r.Out)
	if length > abi.MaxRecord {
		return abi.Failf(abi.InputTooLarge, "the declared fields take more than %d bytes: fetch the large ones with get", abi.MaxRecord)
	}
	if uint64(length) > uint64(img.capacity) {
		return abi.Failf(abi.InputTooLarge, "the declared fields take %d bytes, the plugin's input area has %d", length, img.capacity)
	}
	if !i.memory.WriteUint32Le(img.input+4, uint32(length)) || !i.memory.Write(img.input+8, r.Out) {
		return abi.Failf(abi.HostError, "the input area lies outside of the memory")
	}
	return nil
}

// hostFailed returns the failure for a panic of host code.
func hostFailed(panicked any) *abi.Failure {
	return abi.Failf(abi.HostError, "the host failed: %v", panicked)
}

// exited is the error with which proc_exit terminates a call.
type exited struct{ status uint32 }

func (e *exited) Error() string {
	return fmt.Sprintf("the plugin ended itself with status %d", e.status)
}

// failureOf returns the failure for an error of a call into the guest. full reports
// whether the guest's memory has its largest size. complaint is the first line that
// the guest wrote to its standard error.
func failureOf(err error, full bool, complaint string) *abi.Failure {
	if f, ok := errors.AsType[*abi.Failure](err); ok {
		return f
	}
	// The lines after the first are a stack trace of functions without names.
	first, _, _ := strings.Cut(err.Error(), "\n")
	text, trap := strings.CutPrefix(first, "wasm error: ")
	exit, ended := errors.AsType[*exited](err)
	_, broken := errors.AsType[runtime.Error](err)
	switch {
	case strings.HasPrefix(text, "stack overflow"):
		return abi.Failf(abi.StackLimit, "calls are nested too deeply")
	case ended:
		text = exit.Error()
	case broken || !trap:
		return abi.Failf(abi.HostError, "the host failed: %s", text)
	}
	if complaint != "" {
		text += "; it wrote: " + complaint
	}
	text = safetext.Shown(text)
	if full {
		// This is a guess: WebAssembly does not report the cause of a trap. Most
		// guests that get no more memory trap like this, but so does a guest that
		// fails for another reason while it uses all its memory.
		return abi.Failf(abi.MemoryLimit, "%s, with all the memory it may have in use", text)
	}
	return abi.Failf(abi.Trap, "%s", text)
}

// hookFunctions are a module's functions for each hook, nil if the module has none.
type hookFunctions struct{ admit, merge, filter, connect api.Function }

func findHooks(module api.Module) hookFunctions {
	return hookFunctions{
		admit:   module.ExportedFunction(abi.Exports[string(abi.HookAdmit)]),
		merge:   module.ExportedFunction(abi.Exports[string(abi.HookMerge)]),
		filter:  module.ExportedFunction(abi.Exports[string(abi.HookFilter)]),
		connect: module.ExportedFunction(abi.Exports[string(abi.HookConnect)]),
	}
}

func (f *hookFunctions) of(hook abi.Hook) api.Function {
	switch hook {
	case abi.HookAdmit:
		return f.admit
	case abi.HookMerge:
		return f.merge
	case abi.HookConnect:
		return f.connect
	default:
		return f.filter
	}
}
