package file

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/fswatch"
	"github.com/wardlet/wardlet/core/manifest"
	"github.com/wardlet/wardlet/core/source"
)

// The defaults of Config.
const (
	DefaultPeriod = 20 * time.Second
	DefaultSettle = 100 * time.Millisecond
	// DefaultMaxFiles and DefaultMaxBytes are far above the needs of a node.
	DefaultMaxFiles = 16384
	DefaultMaxBytes = 256 << 20
)

// firstWait is the number of settle times for which the first snapshot waits for files that are
// being written.
const firstWait = 10

// Config says what to read and where to deliver it.
type Config struct {
	// Name is the source's name in agent.toml.
	Name string
	// Path is a directory, or a file.
	Path string
	// NodeName is this node's name.
	NodeName string
	// Namespaces are the namespaces that documents may have, as in manifest.DecodeFrom.
	Namespaces []string
	Sink       source.Sink
	// Decode reads a manifest. The default is manifest.Decode.
	Decode func(data []byte, from manifest.DecodeFrom) []api.Document
	// OwnerOnly refuses a directory that users other than its owner may access, or that belongs
	// neither to the agent's user nor to root. The last snapshot then stays.
	OwnerOnly bool
	// Period is the time between listings if there are no events. The default is DefaultPeriod.
	Period time.Duration
	// Settle is the time for which a file that is written in place must be unchanged. The default
	// is DefaultSettle.
	Settle time.Duration
	// MissingEmpty treats a missing path as an empty one, as a kubelet does: its pods are
	// terminated.
	MissingEmpty bool
	// Place stores the directory of the last successful listing over restarts. Nil: it is known
	// only until the agent stops.
	Place Place
	// MaxFiles limits the number of manifests in the directory, and the number of documents in all
	// of them. MaxBytes limits the total size of the manifests. If the directory exceeds a limit,
	// it is not read and its last snapshot stays. The defaults are DefaultMaxFiles and
	// DefaultMaxBytes.
	MaxFiles int
	MaxBytes int64
	// Ignored is called after every listing with the entries of the directory that are not read,
	// nil for none. After a failed listing it is called when the error is reported. Nil: it is not
	// called.
	Ignored func(*api.Ignored)
	Logger  *slog.Logger
	// Now is the clock. The default is time.Now.
	Now func() time.Time
}

// Place stores the device and inode of a directory.
type Place interface {
	// Load returns the stored values; ok is false if there are none.
	Load() (dev, ino uint64, ok bool, err error)
	Store(dev, ino uint64) error
}

// Source reads manifests from files. Use New to create one.
type Source struct {
	cfg    Config
	single bool
	// ignored has the entries of the last listing that are not read, nil for none.
	ignored *api.Ignored
	// files has the state of each known name.
	files map[string]*file
	// replaced are the paths of removed files whose name now belongs to another path, because the
	// source's path changed between a file and a directory.
	replaced []string
	// arrived is the way in which each name appeared since the last look. swapped: a name appeared.
	arrived map[string]arrival
	swapped bool
	// relinked: a link that leads to the path was changed since the last look.
	relinked bool
	// late are the names in arrived that appeared after the last listing.
	late map[string]bool
	// due are the names to look at next. links are the symbolic links, and the files with several
	// names, which are looked at every time. listed is the time of the last full listing. relist
	// requests another one.
	due, links map[string]bool
	listed     time.Time
	relist     bool
	// started is the time of the first successful listing. good is the directory of the last
	// successful one, of this process or an earlier one; known is false if there was none.
	started  time.Time
	good     fswatch.Inode
	known    bool
	snapshot bool
	// failing is the time since when listings fail.
	failing time.Time
	// full: listings fail because the directory exceeds its limits.
	full bool
	// documents and bytes are the totals of all files.
	documents int
	bytes     int64
	// next is the time of the next look.
	next  time.Time
	watch watchState
}

// New returns a source. Run starts it.
func New(c Config) *Source {
	c.Path = filepath.Clean(c.Path)
	if c.Period <= 0 {
		c.Period = DefaultPeriod
	}
	if c.Settle <= 0 {
		c.Settle = DefaultSettle
	}
	if c.MaxFiles <= 0 {
		c.MaxFiles = DefaultMaxFiles
	}
	if c.MaxBytes <= 0 {
		c.MaxBytes = DefaultMaxBytes
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Decode == nil {
		c.Decode = manifest.Decode
	}
	if c.Ignored == nil {
		c.Ignored = func(*api.Ignored) {}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.Logger = c.Logger.With("source", c.Name)
	s := &Source{
		cfg: c, files: map[string]*file{}, arrived: map[string]arrival{}, late: map[string]bool{},
		due: map[string]bool{}, links: map[string]bool{},
	}
	s.recall()
	return s
}

// recall loads the directory that an earlier process stored.
func (s *Source) recall() {
	if s.cfg.Place == nil {
		return
	}
	dev, ino, ok, err := s.cfg.Place.Load()
	if err != nil {
		s.cfg.Logger.Warn("the directory that was read last is unknown; an empty one counts", "err", err)
	}
	s.good, s.known = fswatch.Inode{Dev: dev, Ino: ino}, ok
}

// remember stores the directory of a successful listing.
func (s *Source) remember(dir fswatch.Inode) {
	changed := !s.known || s.good != dir
	s.good, s.known = dir, true
	if s.cfg.Place == nil || !changed {
		return
	}
	if err := s.cfg.Place.Store(dir.Dev, dir.Ino); err != nil {
		s.cfg.Logger.Warn("the identity of the directory is not saved; a restart loses it", "err", err)
	}
}

// Run reads and delivers until ctx is done, and then returns nil. It fails only with an error of
// the sink.
func (s *Source) Run(ctx context.Context) error {
	defer s.stopWatching()
	for ctx.Err() == nil {
		s.next = s.nextListing()
		s.keepWatching()
		if err := s.look(ctx); err != nil && ctx.Err() == nil {
			return err
		}
		if s.full {
			s.rest(ctx)
		}
		s.wait(ctx)
	}
	return nil
}

// nextListing returns the latest time for the next full listing.
func (s *Source) nextListing() time.Time {
	now := s.cfg.Now()
	if due := s.listed.Add(s.cfg.Period); due.After(now) {
		return due
	}
	return now.Add(s.cfg.Period)
}

// wait blocks until it is time to look again, or ctx is done.
func (s *Source) wait(ctx context.Context) {
	timer := time.NewTimer(s.next.Sub(s.cfg.Now()))
	defer timer.Stop()
	for look := false; !look; {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			return
		case e, ok := <-s.watch.Events():
			look = s.note(e, ok)
			timer.Reset(s.next.Sub(s.cfg.Now()))
		case err, ok := <-s.watch.Errors():
			look = s.noteGap(err, ok)
		}
	}
	// Events that arrived together are handled by one look.
	for {
		select {
		case e, ok := <-s.watch.Events():
			s.note(e, ok)
		default:
			return
		}
	}
}

// lookAt schedules the next look no later than t.
func (s *Source) lookAt(t time.Time) {
	if t.Before(s.next) {
		s.next = t
	}
}

func (s *Source) from(name string) manifest.DecodeFrom {
	return manifest.DecodeFrom{
		Source: s.cfg.Name, Kind: api.KindFile, File: s.pathOf(name), NodeName: s.cfg.NodeName, Namespaces: s.cfg.Namespaces,
	}
}

func (s *Source) pathOf(name string) string {
	if s.single {
		return s.cfg.Path
	}
	return filepath.Join(s.cfg.Path, name)
}

// reads reports whether a file with that name is a manifest.
func (s *Source) reads(name string) bool {
	if s.single {
		return name == filepath.Base(s.cfg.Path)
	}
	switch filepath.Ext(name) {
	case ".yaml", ".yml", ".json":
		return !isHidden(name)
	}
	return false
}

// isHidden reports whether a file with that name is not meant to be read: an editor's file, or one
// of a mounted ConfigMap.
func isHidden(name string) bool { return strings.HasPrefix(name, ".") }
