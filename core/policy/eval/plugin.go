package eval

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"sync/atomic"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/spec"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// Loader loads modules as plugins.
type Loader interface {
	// Load compiles a module and runs its start functions. The error says why the
	// module cannot be used.
	Load(ctx context.Context, binary []byte, o wasm.Options) (Plugin, error)
	// Forget makes the next Load try again a module that was refused before.
	Forget(ctx context.Context, binary []byte, o wasm.Options) error
}

// Plugin is a loaded module. Calls may come from several goroutines at once.
type Plugin interface {
	// Admit judges one instance. The error is a *abi.Failure.
	Admit(ctx context.Context, r *abi.Request) (wasm.Result, error)
	Connect(ctx context.Context, r *abi.Request) (wasm.Result, error)
	// Merge chooses one of several documents. The error is a *abi.Failure.
	Merge(ctx context.Context, m *abi.MergeRequest) (wasm.MergeResult, error)
	// Filter decides whether an update may go on. The error is a *abi.Failure.
	Filter(ctx context.Context, r *abi.Request) (wasm.FilterResult, error)
	// LoadFuel returns the fuel of its start. If Load failed, that fuel is in the
	// *abi.Failure.
	LoadFuel() int64
	// Warm calls the hooks without effect, so that the first questions are answered as fast
	// as later ones. It returns the cost.
	Warm(ctx context.Context, hooks []string) (fuel int64)
	// Reset makes the plugin ready for the next call, after a verdict.
	Reset(ctx context.Context)
	// Trim releases memory that calls have not needed since the last Trim.
	Trim()
	// Close releases the plugin. No call is running then, and none follows.
	Close() error
}

// Sandbox returns the Loader of an engine.
func Sandbox(engine *wasm.Engine) Loader { return sandbox{engine} }

type sandbox struct{ engine *wasm.Engine }

func (s sandbox) Load(ctx context.Context, binary []byte, o wasm.Options) (Plugin, error) {
	p, err := s.engine.Load(ctx, binary, o)
	if err != nil {
		return nil, err
	}
	return p, nil
}

func (s sandbox) Forget(ctx context.Context, binary []byte, o wasm.Options) error {
	return s.engine.Forget(ctx, binary, o)
}

// SharedPlugin is a loaded plugin that several sets may use, one after the other.
type SharedPlugin struct {
	Plugin Plugin
	// sum and options are the digest and the options that the plugin was made from.
	sum     string
	options wasm.Options
	// Users counts the sets that use it. Only the owner's reloader adds to it, while
	// a set uses it.
	Users    atomic.Int32
	Breakers breakers
	log      *slog.Logger
}

// NewSharedPlugin returns a plugin with one user. sum is the digest of its module.
func NewSharedPlugin(plugin Plugin, sum string, options wasm.Options, log *slog.Logger) *SharedPlugin {
	h := &SharedPlugin{Plugin: plugin, sum: sum, options: options, log: log}
	h.Users.Store(1)
	return h
}

// MadeFrom reports whether loading would make the same plugin again.
func (h *SharedPlugin) MadeFrom(sum string, options *wasm.Options) bool {
	return h.sum == sum && reflect.DeepEqual(&h.options, options)
}

// Acquire adds a user. Release must follow.
func (h *SharedPlugin) Acquire() *SharedPlugin {
	h.Users.Add(1)
	return h
}

// Release closes the plugin after its last user.
func (h *SharedPlugin) Release() {
	if h.Users.Add(-1) > 0 {
		return
	}
	if err := h.Plugin.Close(); err != nil {
		h.log.Warn("plugin was not closed cleanly", "policy", h.options.Policy, "err", err)
	}
}

// FailureOf returns the code of a plugin's failure, its message, and its fuel.
func FailureOf(err error) (code, message string, fuel int64) {
	c, detail := abi.HostError, err
	if failure, ok := errors.AsType[*abi.Failure](err); ok {
		c, detail, fuel = failure.Code, failure.Err, failure.Fuel
	}
	if c == ReferencesUnknown {
		return string(c), spec.OneLine(detail.Error()), 0
	}
	what := "the plugin"
	if c == ConditionFailed {
		what = "a condition"
	}
	message = fmt.Sprintf("%s failed with %s", what, c)
	if detail != nil {
		message += ": " + spec.OneLine(detail.Error())
	}
	return string(c), message, fuel
}

// codeOfCall returns the failure code of a call, empty for none.
func codeOfCall(err error) string {
	if err == nil {
		return ""
	}
	code, _, _ := FailureOf(err)
	return code
}

// IsMachineFailure reports whether a plugin could not be loaded or called because of the
// machine: the next attempt may succeed.
func IsMachineFailure(err error) bool {
	failure, ok := errors.AsType[*abi.Failure](err)
	return errors.Is(err, wasm.ErrNotCompiled) || ok && (failure.Code == abi.HostError || failure.Code == abi.NotReady)
}

// IsMachineOpinion reports whether an opinion comes from a failure of the machine, or from
// failures on other pods, and says nothing about the policy.
func IsMachineOpinion(o *api.Opinion) bool {
	return o.Failure == string(abi.NotReady) || o.Failure == string(abi.HostError) || o.Failure == string(BreakerWaits) || o.Failure == string(ReferencesUnknown)
}

// ReferencesUnknown is the code of a policy that is not asked because an object that
// the pod names is not known yet.
const ReferencesUnknown abi.FailureCode = "ReferencesUnknown"

// ConditionFailed is the code of a condition that cannot be evaluated for a pod.
const ConditionFailed abi.FailureCode = "ConditionFailed"
