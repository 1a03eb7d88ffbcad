package request

import "github.com/wardlet/wardlet/plugins/sdk"

// Fact is something the agent says of the question.
type Fact[T any] struct {
	field *sdk.Field
	read  func(*sdk.Field) T
}

// Get is the fact; zero where the agent does not say.
func (f *Fact[T]) Get() T { return f.read(f.field) }

// Exists reports whether the agent says it.
func (f *Fact[T]) Exists() bool { return f.field.Exists() }

func text(name string) *Fact[string] { return &Fact[string]{sdk.Request(name), (*sdk.Field).String} }

func flag(name string) *Fact[bool] { return &Fact[bool]{sdk.Request(name), (*sdk.Field).Bool} }

// Hook declares which hook is asked: admit, merge, filter or connect.
func Hook() *Fact[string] { return text("hook") }

// The operations.
const (
	// Add: a pod that is new.
	Add = "ADD"
	// Update: a change of one that was admitted.
	Update = "UPDATE"
	// Connect: a connection to one that runs.
	Connect = "CONNECT"
)

// Operation declares whether the pod is new, or runs: Add, Update or Connect.
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

// Tenant declares whose the pod is; it is missing for the operator's.
func Tenant() *Fact[string] { return text("tenant") }

// Replaces declares the UID of the pod that this one would replace; it is
// missing where there is none.
func Replaces() *Fact[string] { return text("replaces") }

// Node declares the node's name.
func Node() *Fact[string] { return text("node") }

// Time declares the decision's time, in milliseconds since 1970 UTC.
func Time() *Fact[int64] { return &Fact[int64]{sdk.Request("time"), (*sdk.Field).Int} }

// ClockSynchronized declares whether the node's clock is synchronised. Where
// it is not, Time may be far off.
func ClockSynchronized() *Fact[bool] { return flag("clockSynchronized") }
