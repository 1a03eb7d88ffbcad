package policy

import (
	"fmt"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/printable"
	"github.com/wardlet/wardlet/core/strict"
)

// The modes of a policy.
const (
	// modeEnforce: its opinion counts.
	modeEnforce = "enforce"
	// modeWarn and modeAudit: it is asked, and its opinion is shown with the pod,
	// or only put on record; it does not count.
	modeWarn  = api.ModeWarn
	modeAudit = api.ModeAudit
	// modeShadow: it is a candidate for the place of the policy of the same name, and
	// judges beside it; nothing that it says counts.
	modeShadow = "shadow"
	// modeMember: it is asked, and its opinion counts only in groups that name it.
	modeMember = api.ModeMember
	// modeOff: it is not asked, nor is its module loaded.
	modeOff = "off"
)

// What becomes of pods that run and that a policy would not admit.
const (
	onChangeIgnore = "ignore"
	// onChangeReport: it is shown with the pod.
	onChangeReport = "report"
	// onChangeEvict: those that its plugin denies are ended, few at a time.
	onChangeEvict = "evict"
)

// keys are those of a policy document, with their defaults in defaultKeys.
type keys struct {
	API apiVersion `toml:"api"`
	// Name is a DNS label.
	Name string `toml:"name"`
	// Expression makes the document that of a group: it tells what comes of what other
	// policies say, as in "signed && !(old || large)"; nil for a policy. Message is the
	// group's own.
	Expression *string `toml:"expression"`
	Message    string  `toml:"message"`
	// Module is a path below the document's directory.
	Module string `toml:"module"`
	// SHA256 is the module's digest, empty where it is not pinned.
	SHA256 string   `toml:"sha256"`
	Hooks  []string `toml:"hooks"`
	// Mode is one of the modes.
	Mode string `toml:"mode"`
	// Priority is 0 to maxPriority; the least is asked first.
	Priority int `toml:"priority"`
	// OnError is Hold, Deny, Allow or lastVerdict: the answer when the plugin
	// fails.
	OnError api.Answer `toml:"on_error"`
	// OnChange is what becomes of pods that run and that the policy would not admit:
	// onChangeIgnore, onChangeReport or onChangeEvict.
	OnChange string `toml:"on_change"`
	// MutablePaths are JSON pointers to what the policy may change of a pod, with
	// "*" for any one element; empty for nothing. See mutate.CheckPath.
	MutablePaths []string `toml:"mutable_paths"`
	// Capabilities are what the policy may see beyond the pod: some of wasm.Capabilities.
	Capabilities []string       `toml:"capabilities"`
	Match        match          `toml:"match"`
	Limits       limits         `toml:"limits"`
	Settings     map[string]any `toml:"settings"`
	Exceptions   []exception    `toml:"exception"`
	Tests        []vector       `toml:"test"`
	// Shadow is for mode shadow.
	Shadow threshold `toml:"shadow"`
}

// lastVerdict is the answer that the policy gave on the same instance of the pod
// before, Hold where there is none.
const lastVerdict api.Answer = "last_verdict"

// limits bound one call of the plugin.
type limits struct {
	// MemoryPages is 1 to maxMemoryPages, each of 64 KiB.
	MemoryPages int `toml:"memory_pages"`
	// OutputBytes is minOutputBytes to maxOutputBytes.
	OutputBytes int `toml:"output_bytes"`
	// Fuel is minFuel to maxFuel units; docs/abi.md says what takes how much.
	Fuel int `toml:"fuel"`
	// MaxSuppress is how long the policy may hold an update back, positive;
	// agent.toml says how long an owner's may at most.
	MaxSuppress time.Duration `toml:"max_suppress"`
}

func defaultKeys() keys {
	return keys{
		Mode: modeEnforce, Priority: 100, OnError: api.Hold, OnChange: onChangeIgnore,
		Shadow: defaultThreshold(), Limits: limits{MemoryPages: 64, Fuel: defaultFuel, OutputBytes: 64 << 10, MaxSuppress: time.Hour},
	}
}

// document is a policy document whose keys are all as they may be.
type document struct {
	keys
	// path is the document's name in its directory, file the whole path.
	path, file string
	text       []byte
	wrong      []complaint
	// expression is that of a group, nil for a policy.
	expression *expression
}

// complaint is a fault that came to light after the document was decoded.
type complaint struct{ key, message string }

// parseDocument decodes and checks a document. The error is strict.Errors.
func parseDocument(path, file string, text []byte, allowUnpinned bool) (*document, error) {
	d := &document{keys: defaultKeys(), path: path, file: file, text: text}
	err := strict.Decode(file, text, &d.keys, func(report strict.Report) { d.check(report, allowUnpinned) })
	if err != nil {
		return nil, d.ofAPI(err)
	}
	d.Settings = plainSettings(d.Settings)
	return d, nil
}

// complain puts a fault at a key down, for err. What it quotes is not escaped before it is
// shown.
func (d *document) complain(key, format string, args ...any) {
	d.wrong = append(d.wrong, complaint{key, printable.Cut(printable.Join(fmt.Sprintf(format, args...)), maxMessage)})
}

// err gives what was complained of, each with the line of its key; nil where
// there is nothing. The lines are found by decoding once more.
func (d *document) err() error {
	if len(d.wrong) == 0 {
		return nil
	}
	var again keys
	return strict.Decode(d.file, d.text, &again, func(report strict.Report) {
		for _, c := range d.wrong {
			report(c.key, "%s", c.message)
		}
	})
}

// maxMessage bounds what a fault may quote of a plugin, in bytes.
const maxMessage = 2048

// oneLine makes a message one line of text, whatever a plugin says: reasons
// are told one per line.
func oneLine(s string) string { return printable.Cut(printable.Joined(s), maxMessage) }

// loads is what the plugin of a policy is made from, beside its module.
func (d *document) loads(node string) wasm.Options {
	return wasm.Options{
		Policy: d.Name, Hooks: d.Hooks, Settings: d.Settings,
		MemoryPages: uint32(d.Limits.MemoryPages), // 1 to maxMemoryPages
		Fuel:        int64(d.Limits.Fuel),
		OutputBytes: d.Limits.OutputBytes, Capabilities: d.Capabilities,
		Node: node,
	}
}
