package request

import "github.com/wardlet/wardlet/plugins/sdk"

// Fact is a field of the question.
type Fact[T any] struct {
	field *sdk.Field
	read  func(*sdk.Field) T
}

// Get returns the value of the field, zero if the agent did not send it.
func (f *Fact[T]) Get() T { return f.read(f.field) }

// Exists reports whether the agent sent the field.
func (f *Fact[T]) Exists() bool { return f.field.Exists() }

func text(name string) *Fact[string] { return &Fact[string]{sdk.Request(name), (*sdk.Field).String} }

func flag(name string) *Fact[bool] { return &Fact[bool]{sdk.Request(name), (*sdk.Field).Bool} }

// Hook declares the hook that is called: admit, merge, filter or connect.
func Hook() *Fact[string] { return text("hook") }

// The operations.
const (
	// Add: the pod is new.
	Add = "ADD"
	// Update: a change of an admitted pod.
	Update = "UPDATE"
	// Connect: a connection to a running pod.
	Connect = "CONNECT"
)

// Operation declares the operation: Add, Update or Connect.
func Operation() *Fact[string] { return text("operation") }

// Source declares the name of the pod's source in agent.toml.
func Source() *Fact[string] { return text("source") }

// The kinds of sources.
const (
	File = "file"
	HTTP = "http"
	API  = "api"
)

// Kind declares the kind of the source: File, HTTP or API.
func Kind() *Fact[string] { return text("kind") }

// Document declares the document's name in its source: path and number, for
// files.
func Document() *Fact[string] { return text("document") }

// Tenant declares the tenant that the pod belongs to. It is missing for the operator's
// pods.
func Tenant() *Fact[string] { return text("tenant") }

// Replaces declares the UID of the pod that this pod would replace. It is missing if there
// is none.
func Replaces() *Fact[string] { return text("replaces") }

// Node declares the node's name.
func Node() *Fact[string] { return text("node") }

// Time declares the decision's time, in milliseconds since 1970 UTC.
func Time() *Fact[int64] { return &Fact[int64]{sdk.Request("time"), (*sdk.Field).Int} }

// ClockSynchronized declares whether the node's clock is synchronised. If it is not, Time
// may be far off.
func ClockSynchronized() *Fact[bool] { return flag("clockSynchronized") }
