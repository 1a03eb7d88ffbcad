package spec

import (
	"errors"
	"fmt"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/printable"
	"github.com/wardlet/wardlet/core/strict"
)

// The modes of a policy.
const (
	// ModeEnforce: the opinion of the policy counts.
	ModeEnforce = "enforce"
	// ModeWarn and ModeAudit: the policy is asked, but its opinion does not count. It is
	// shown with the pod (warn), or only recorded (audit).
	ModeWarn  = api.ModeWarn
	ModeAudit = api.ModeAudit
	// ModeShadow: the policy is a candidate that may replace the one of the same name. It
	// is asked the same questions, but its opinion does not count.
	ModeShadow = "shadow"
	// ModeMember: the policy is asked, but its opinion counts only in groups that name it.
	ModeMember = api.ModeMember
	// ModeOff: the policy is not asked and its module is not loaded.
	ModeOff = "off"
)

// The values of on_change: what happens to running pods that a policy would not admit.
const (
	OnChangeIgnore = "ignore"
	// onChangeReport: the violation is shown with the pod.
	onChangeReport = "report"
	// OnChangeEvict: pods that the plugin denies are evicted, few at a time.
	OnChangeEvict = "evict"
)

// Keys are the keys of a policy document; defaultKeys has their defaults.
type Keys struct {
	API apiVersion `toml:"api"`
	// Name is a DNS label.
	Name string `toml:"name"`
	// Expression is nil for a policy. A document with an expression is a group: it combines
	// the answers of other policies, as in "signed && !(old || large)". Message is the
	// group's own message.
	Expression *string `toml:"expression"`
	Message    string  `toml:"message"`
	// Module is a path below the document's directory.
	Module string `toml:"module"`
	// SHA256 is the module's digest, empty if it is not pinned.
	SHA256 string   `toml:"sha256"`
	Hooks  []string `toml:"hooks"`
	// Mode is one of the modes.
	Mode string `toml:"mode"`
	// Priority is 0 to maxPriority; the least is asked first.
	Priority int `toml:"priority"`
	// OnError is the answer if the plugin fails: Hold, Deny, Allow or LastVerdict.
	OnError api.Answer `toml:"on_error"`
	// OnChange says what happens to running pods that the policy would not admit:
	// OnChangeIgnore, onChangeReport or OnChangeEvict.
	OnChange string `toml:"on_change"`
	// MutablePaths are JSON pointers to the parts of a pod that the policy may change, with
	// "*" for any one element; empty if it may change nothing. See mutate.CheckPath.
	MutablePaths []string `toml:"mutable_paths"`
	// Capabilities are what the policy may see beyond the pod: some of abi.Capabilities.
	Capabilities []string       `toml:"capabilities"`
	Match        Match          `toml:"match"`
	Limits       Limits         `toml:"limits"`
	Settings     map[string]any `toml:"settings"`
	Exceptions   []Exception    `toml:"exception"`
	Tests        []TestCase     `toml:"test"`
	// Shadow applies only in mode shadow.
	Shadow Threshold `toml:"shadow"`
}

// LastVerdict stands for the answer that the policy returned before on the same
// instance of the pod, and for Hold if there is none.
const LastVerdict api.Answer = "last_verdict"

// Limits bound one call of the plugin.
type Limits struct {
	// MemoryPages is 1 to 1024, each of 64 KiB.
	MemoryPages int `toml:"memory_pages"`
	// OutputBytes is minOutputBytes to maxOutputBytes.
	OutputBytes int `toml:"output_bytes"`
	// Fuel is minFuel to maxFuel units; docs/abi.md has the cost of each operation.
	Fuel int `toml:"fuel"`
	// MaxSuppress is how long the policy may hold an update back, positive;
	// agent.toml bounds it for each owner.
	MaxSuppress time.Duration `toml:"max_suppress"`
}

func defaultKeys() Keys {
	return Keys{
		Mode: ModeEnforce, Priority: 100, OnError: api.Hold, OnChange: OnChangeIgnore,
		Shadow: defaultThreshold(), Limits: Limits{MemoryPages: 64, Fuel: DefaultFuel, OutputBytes: 64 << 10, MaxSuppress: time.Hour},
	}
}

// Document is a policy document whose keys are valid.
type Document struct {
	Keys
	// Path is the document's name in its directory. File is the whole path.
	Path, File string
	Text       []byte
	Complaints []Complaint
	// Group is the parsed Expression, nil for a policy.
	Group *Expression
}

// Complaint is a fault that was found after the document was decoded.
type Complaint struct{ Key, Message string }

// Parse decodes and checks a document. The error is strict.Errors.
func Parse(path, file string, text []byte, allowUnpinned bool) (*Document, error) {
	d := &Document{Keys: defaultKeys(), Path: path, File: file, Text: text}
	err := strict.Decode(file, text, &d.Keys, func(report strict.Report) { d.check(report, allowUnpinned) })
	if err != nil {
		return nil, d.ofAPI(err)
	}
	d.Settings = plainSettings(d.Settings)
	return d, nil
}

// Complain adds a fault at a key. Quoted text is escaped only when it is shown.
func (d *Document) Complain(key, format string, args ...any) {
	d.Complaints = append(d.Complaints, Complaint{key, printable.Cut(printable.Join(fmt.Sprintf(format, args...)), MaxMessage)})
}

// Err returns the Complaints, each with the line of its key; nil if there are none.
// It decodes the document once more to find the lines.
func (d *Document) Err() error {
	if len(d.Complaints) == 0 {
		return nil
	}
	var again Keys
	return strict.Decode(d.File, d.Text, &again, func(report strict.Report) {
		for _, c := range d.Complaints {
			report(c.Key, "%s", c.Message)
		}
	})
}

// MaxMessage is how many bytes a fault may quote of a plugin.
const MaxMessage = 2048

// OneLine returns a plugin's message as one line of at most MaxMessage bytes.
func OneLine(s string) string { return printable.Cut(printable.Joined(s), MaxMessage) }

// PluginOptions returns the options with which the plugin of the policy is made from its
// module.
func (d *Document) PluginOptions(node string) wasm.Options {
	return wasm.Options{
		Policy: d.Name, Hooks: d.Hooks, Settings: d.Settings,
		MemoryPages: uint32(d.Limits.MemoryPages), // 1 to maxMemoryPages
		Fuel:        int64(d.Limits.Fuel),
		OutputBytes: d.Limits.OutputBytes, Capabilities: d.Capabilities,
		Node: node,
	}
}

// apiVersion is the value of the key api. Decoding a version that this agent does not
// support is an error.
type apiVersion string

const apiV1 apiVersion = "wardlet.dev/v1"

// UnmarshalText implements encoding.TextUnmarshaler.
func (v *apiVersion) UnmarshalText(text []byte) error {
	if string(text) != string(apiV1) {
		return fmt.Errorf("%q is not supported in this version; want %q", text, apiV1)
	}
	*v = apiV1
	return nil
}

// ofAPI reduces the faults of a document to the one that explains the others:
// the document is of another version, or no policy at all.
func (d *Document) ofAPI(err error) error {
	faults, ok := errors.AsType[strict.Errors](err)
	if !ok {
		return err
	}
	for _, f := range faults {
		if f.Key == "api" {
			return strict.Errors{f}
		}
		if f.Key == "" {
			return err // the document was not decoded
		}
	}
	if d.API == apiV1 {
		return err
	}
	return strict.Errors{{
		File: d.File, Key: "api",
		Message: fmt.Sprintf("missing; a policy begins with api = %q, and other TOML files do not belong into this directory", apiV1),
	}}
}
