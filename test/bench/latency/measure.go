package latency

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/source/file"
	"github.com/wardlet/wardlet/core/state"
)

// How is a way to write a manifest.
type How int

const (
	// ByRename writes a file elsewhere and moves it into the directory.
	ByRename How = iota
	// InPlace writes the file under its final name. The source waits at least its settle time
	// before it trusts such a file.
	InPlace
)

// Others is the number of other manifests in the directory.
const Others = 100

// patience is how long Measure waits for one update.
const patience = 20 * time.Second

// Measure writes n manifests one after the other and returns the time from the beginning of each
// write to the arrival of its update at the output of the mux. Every second manifest is new, the
// others change the one before. Files are below os.TempDir, which should be on a disk. It returns
// early when ctx ends.
func Measure(ctx context.Context, n int, how How) (_ []time.Duration, err error) {
	root, err := os.MkdirTemp("", "wardlet-latency-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(root)) }()
	r := &rig{root: root, dir: filepath.Join(root, "manifests"), how: how, arrivals: make(chan arrival, 1000)}
	if err := os.Mkdir(r.dir, 0o700); err != nil {
		return nil, err
	}
	for i := range Others {
		if err := os.WriteFile(r.path("other", i), manifestOf("other", i, 0), 0o600); err != nil {
			return nil, err
		}
	}
	stop, err := r.start()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	for i := range Others {
		if _, err := r.arrived(ctx, image("other", i, 0)); err != nil {
			return nil, err
		}
	}
	durations := make([]time.Duration, 0, n)
	for i := range n {
		began, err := r.write(i/2, i%2)
		if err != nil {
			return nil, err
		}
		at, err := r.arrived(ctx, image("new", i/2, i%2))
		if err != nil {
			return nil, err
		}
		durations = append(durations, at.Sub(began))
	}
	return durations, nil
}

// Percentile returns the duration that p of 100 measurements do not exceed.
func Percentile(durations []time.Duration, p int) time.Duration {
	sorted := slices.Sorted(slices.Values(durations))
	return sorted[max(0, (len(sorted)*p+99)/100-1)]
}

// arrival is a pod that the mux has sent, identified by its image.
type arrival struct {
	image string
	at    time.Time
}

// rig is a directory of manifests, and the parts of the agent from there to the updates.
type rig struct {
	root, dir string
	how       How
	arrivals  chan arrival
	seen      map[string]time.Time
}

// start starts all parts; stop stops them and waits.
func (r *rig) start() (stop func() error, err error) {
	r.seen = map[string]time.Time{}
	dir, err := state.Open(filepath.Join(r.root, "state"), slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	const name = "files"
	m := mux.New(mux.Config{
		Sources: []mux.Source{{Name: name, Kind: api.KindFile, Location: r.dir}}, Documents: dir.Documents(),
		Logger: slog.New(slog.DiscardHandler), Now: time.Now,
	})
	sink, err := m.Sink(name)
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	src := file.New(file.Config{Name: name, Path: r.dir, NodeName: "node", Sink: sink, Place: dir.Place(name)})

	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	var receiver sync.WaitGroup
	go func() { ended <- src.Run(ctx) }()
	go func() { ended <- m.Run(ctx) }()
	receiver.Go(func() { r.receive(ctx, m.Updates()) })
	return func() error {
		cancel()
		errs := []error{<-ended, <-ended}
		receiver.Wait()
		errs = slices.DeleteFunc(errs, func(err error) bool { return errors.Is(err, context.Canceled) })
		return errors.Join(append(errs, dir.Close())...)
	}, nil
}

// receive records when updates arrive, until their channel is closed or ctx ends.
func (r *rig) receive(ctx context.Context, updates <-chan api.Update) {
	for u := range updates {
		now := time.Now()
		for _, c := range u.Changes {
			if c.New == nil || c.Op == api.Remove {
				continue
			}
			select {
			case r.arrivals <- arrival{c.New.Spec.Containers[0].Image, now}:
			case <-ctx.Done():
			}
		}
	}
}

// arrived waits for a pod with an image.
func (r *rig) arrived(ctx context.Context, image string) (time.Time, error) {
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for {
		if at, ok := r.seen[image]; ok {
			return at, nil
		}
		select {
		case a := <-r.arrivals:
			r.seen[a.image] = a.at
		case <-ctx.Done():
			return time.Time{}, context.Cause(ctx)
		case <-timeout.C:
			return time.Time{}, fmt.Errorf("no update for %s within %v", image, patience)
		}
	}
}

// write writes a manifest, and returns when the write began.
func (r *rig) write(i, version int) (began time.Time, err error) {
	path, text := r.path("new", i), manifestOf("new", i, version)
	if r.how == InPlace {
		began = time.Now()
		return began, os.WriteFile(path, text, 0o600)
	}
	elsewhere := filepath.Join(r.root, "new")
	if err := os.WriteFile(elsewhere, text, 0o600); err != nil {
		return time.Time{}, err
	}
	began = time.Now()
	return began, os.Rename(elsewhere, path)
}

func (r *rig) path(name string, i int) string {
	return filepath.Join(r.dir, fmt.Sprintf("%s-%d.yaml", name, i))
}

func image(name string, i, version int) string {
	return fmt.Sprintf("registry.example/%s-%d:%d", name, i, version)
}

func manifestOf(name string, i, version int) []byte {
	return fmt.Appendf(nil, `apiVersion: v1
kind: Pod
metadata:
  name: %s-%d
  labels:
    app: web
spec:
  containers:
  - name: web
    image: %s
    args: [--listen, ":8080"]
    resources:
      limits:
        cpu: 500m
        memory: 64Mi
`, name, i, image(name, i, version))
}
