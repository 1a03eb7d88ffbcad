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
	// DefaultMaxFiles and DefaultMaxBytes are far beyond what a node runs.
	DefaultMaxFiles = 16384
	DefaultMaxBytes = 256 << 20
)

// firstWait is how many settle times the first snapshot waits for files that
// are being written.
const firstWait = 10

// Config says what to read and where it goes.
type Config struct {
	// Name is the source's name in agent.toml.
	Name string
	// Path is a directory, or a file.
	Path string
	// NodeName is this node's name.
	NodeName string
	// Namespaces are those that documents may be in, as in manifest.DecodeFrom.
	Namespaces []string
	Sink       source.Sink
	// Decode reads a manifest. The default is manifest.Decode.
	Decode func(data []byte, from manifest.DecodeFrom) []api.Document
	// OwnerOnly refuses a directory that others than its owner may read, or that is
	// neither the agent's nor root's: its last snapshot stays.
	OwnerOnly bool
	// Period is the time between listings when nothing happens. The default
	// is DefaultPeriod.
	Period time.Duration
	// Settle is how long a file written in place must stand still. The
	// default is DefaultSettle.
	Settle time.Duration
	// MissingEmpty makes a path that is missing an empty one, as it is for a
	// kubelet: its pods end.
	MissingEmpty bool
	// Place remembers the directory of the last good listing over restarts.
	// Without one it is remembered until the agent ends.
	Place Place
	// MaxFiles bounds the manifests of the directory, and the documents in all of
	// them; MaxBytes bounds the manifests' sizes together. A directory beyond them
	// cannot be read: its last snapshot stays. The defaults are DefaultMaxFiles and
	// DefaultMaxBytes.
	MaxFiles int
	MaxBytes int64
	// Ignored is called after every listing with what the directory holds that is not
	// read, nil for nothing; also after one with an error, once that is reported. Nil:
	// it is not called.
	Ignored func(*api.Ignored)
	Logger  *slog.Logger
	// Now is the clock. The default is time.Now.
	Now func() time.Time
}

// Place keeps the device and inode of a directory.
type Place interface {
	// Load returns what was stored last; ok is false where nothing was.
	Load() (dev, ino uint64, ok bool, err error)
	Store(dev, ino uint64) error
}

// Source reads manifests from files. Make it with New.
type Source struct {
	cfg    Config
	single bool
	// ignored is what the last listing held that is not read, nil for nothing.
	ignored *api.Ignored
	// files are by name, as long as something of them is remembered.
	files map[string]*file
	// replaced are the paths of files whose name another one has now, since the
	// path became a file, or a directory.
	replaced []string
	// arrived says how names appeared since the last look, swapped whether any
	// did.
	arrived map[string]arrival
	swapped bool
	// relinked says whether a link that leads to the path was changed since.
	relinked bool
	// late are those of them that appeared after the last listing.
	late map[string]bool
	// due has the names to look at next, links the names of files with more than one name, which
	// are looked at every time. listed is when the directory was last listed in full; relist
	// requests another full list.
	due, links map[string]bool
	listed     time.Time
	relist     bool
	// started is the time of the first good listing, good the directory of
	// the last one, of this process or an earlier one; known is false where
	// there was none.
	started  time.Time
	good     fswatch.Inode
	known    bool
	snapshot bool
	// failing is since when listings fail.
	failing time.Time
	// full is true while they fail because the directory is beyond its bounds.
	full bool
	// documents and bytes are what the files come to.
	documents int
	bytes     int64
	// next is when to look again.
	next  time.Time
	watch watchState
}

// New makes a source; Run starts it.
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

// recall takes up the directory of an earlier process.
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

// remember notes the directory of a good listing.
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

// Run reads and delivers until ctx is done; then it ends with nil. It fails
// only with an error of the sink.
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

// nextListing is when all manifests are to be listed at the latest.
func (s *Source) nextListing() time.Time {
	now := s.cfg.Now()
	if due := s.listed.Add(s.cfg.Period); due.After(now) {
		return due
	}
	return now.Add(s.cfg.Period)
}

// wait returns when it is time to look.
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
	// What happened together is looked at together.
	for {
		select {
		case e, ok := <-s.watch.Events():
			s.note(e, ok)
		default:
			return
		}
	}
}

// lookAt makes the next look come no later than t.
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

// reads reports whether a file of that name is a manifest.
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

// isHidden reports whether a file of that name is not meant to be read: an editor's, or that
// of a mounted ConfigMap.
func isHidden(name string) bool { return strings.HasPrefix(name, ".") }
