package compile

import (
	"encoding/hex"
	"fmt"
	"time"
)

// Digest is the sha256 of a module, as it is compiled.
type Digest [32]byte

// String is the digest in 64 hexadecimal digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// MarshalText is String.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what String returns.
func (d *Digest) UnmarshalText(text []byte) error {
	if !isDigest(string(text)) {
		return fmt.Errorf("%q is no digest: it has 64 hexadecimal digits", text)
	}
	_, err := hex.Decode(d[:], text)
	return err
}

// Reason is why a module is not compiled.
type Reason string

// The reasons.
const (
	// CPU: it takes more processor time than the limit.
	CPU Reason = "cpu"
	// Memory: it takes more memory, or becomes more code, than the limit.
	Memory Reason = "memory"
	// Crash: the child that compiled it died.
	Crash Reason = "crash"
	// Invalid: it is no valid module.
	Invalid Reason = "invalid"
)

// Refused is the error for a module that is at fault itself. It is remembered:
// the module is not tried again until Forget, an upgrade, or other limits.
type Refused struct {
	Digest Digest
	Reason Reason
	// Text says more, in one line.
	Text string
	// At is when it was tried.
	At time.Time
}

func (r *Refused) Error() string {
	return fmt.Sprintf("the module is refused (%s, tried at %s): %s", r.Reason, r.At.UTC().Format(time.RFC3339), r.Text)
}

func (r Reason) known() bool {
	switch r {
	case CPU, Memory, Crash, Invalid:
		return true
	}
	return false
}
