package state

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/pod"
)

// opinionsDir is the directory of what policies said last.
const opinionsDir = "opinions"

// LastOpinions are what policies said last of an instance of a pod.
type LastOpinions struct {
	// Instance is that of the pod, see pod.Instance.
	Instance string `json:"instance"`
	// Tenant is whose pod it is, empty for the operator's.
	Tenant string `json:"tenant,omitempty"`
	// At is when the newest of them was given.
	At       time.Time     `json:"at"`
	Opinions []LastOpinion `json:"opinions"`
}

// LastOpinion is what one policy said.
type LastOpinion struct {
	Policy string `json:"policy"`
	// Tenant is whose policy it is, empty for the operator's.
	Tenant  string     `json:"tenant,omitempty"`
	Answer  pod.Answer `json:"answer"`
	Reason  string     `json:"reason,omitempty"`
	Message string     `json:"message,omitempty"`
	// RetryAfter is when a hold wanted to be looked at again, 0 for no wish.
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
	// Changed: the policy has changed the pod.
	Changed bool `json:"changed,omitempty"`
}

// Opinions keeps what policies said last, one record per instance.
type Opinions struct{ dir *Dir }

// Opinions is the store of what policies said last.
func (d *Dir) Opinions() Opinions { return Opinions{d} }

// Apply stores records in place of those of the same instances, and removes those
// of others; one that is not there is no error. When it returns nil all of it is
// on the disk; else some of it may be, each record whole.
func (s Opinions) Apply(put []LastOpinions, remove []string) error {
	errs := make([]error, len(put)+len(remove), len(put)+len(remove)+1)
	if len(put) > 0 {
		inParallel(len(put), func(i int) { errs[i] = s.write(&put[i]) })
	}
	for i, instance := range remove {
		err := s.dir.fs.remove(filepath.Join(s.dir.path, opinionsFile(instance)))
		if !errors.Is(err, os.ErrNotExist) {
			errs[len(put)+i] = err
		}
	}
	if len(errs) > 0 {
		errs = append(errs, s.dir.fs.syncDir(filepath.Join(s.dir.path, opinionsDir)))
	}
	return errors.Join(errs...)
}

func (s Opinions) write(o *LastOpinions) error {
	data, err := seal(o)
	if err == nil {
		err = o.usable()
	}
	if err == nil {
		dir, name := filepath.Split(filepath.Join(s.dir.path, o.file()))
		err = replaceFile(s.dir.fs, filepath.Clean(dir), name, data)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", o, err)
	}
	return nil
}

// Load reads all records, the oldest first. The errors name files that cannot be
// read; those that are corrupt are moved aside, and no error but a log line.
func (s Opinions) Load() ([]LastOpinions, []error) {
	all, _, errs := loadAll[LastOpinions](s.dir, opinionsDir)
	slices.SortFunc(all, func(a, b LastOpinions) int { return a.At.Compare(b.At) })
	return all, errs
}

func (o *LastOpinions) String() string { return "what policies said last of instance " + o.Instance }

func (o *LastOpinions) file() string { return opinionsFile(o.Instance) }

// usable says what keeps the agent from going on with a record.
func (o *LastOpinions) usable() error {
	if o.Instance == "" || len(o.Opinions) == 0 {
		return errors.New("it is about no pod, or says nothing")
	}
	for _, one := range o.Opinions {
		if one.Policy == "" || one.RetryAfter < 0 || !slices.Contains([]pod.Answer{pod.Allow, pod.Hold, pod.Deny, pod.Abstain}, one.Answer) {
			return fmt.Errorf("%q of policy %q is no opinion", one.Answer, one.Policy)
		}
	}
	return nil
}

// opinionsFile is the file of an instance below the state directory.
func opinionsFile(instance string) string {
	sum := sha256.Sum256([]byte(instance))
	return filepath.Join(opinionsDir, hex.EncodeToString(sum[:16])+recordSuffix)
}
