package stats

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"

	"github.com/wardlet/wardlet/core/volume"
	"github.com/wardlet/wardlet/core/volume/usage"
)

const (
	// countAgain is the least time between two counts of the files of a volume, as in a kubelet.
	// Counting takes at most one part in countShare of the time, because the next count of a volume is
	// delayed in proportion. countTime limits one count.
	countAgain = time.Minute
	countShare = 20
	countTime  = 30 * time.Second
)

// volumes counts the files of emptyDirs.
type volumes struct {
	cfg *Config
	// wanted has a value if a reading waits for a count.
	wanted chan struct{}

	mu    sync.Mutex
	known map[volumeKey]*volumeUse
}

type volumeKey struct {
	uid  types.UID
	name string
}

// volumeUse is how much an emptyDir uses.
type volumeUse struct {
	name, path string
	memory     bool
	// counted is the time of the last count that succeeded; zero before.
	counted       time.Time
	bytes, inodes uint64
	// due is when the files may be counted again.
	due time.Time
}

// use returns the emptyDirs of pods, and requests a count of those that are due.
func (v *volumes) use() map[types.UID][]volumeUse {
	v.mu.Lock()
	defer v.mu.Unlock()
	out, there := map[types.UID][]volumeUse{}, map[volumeKey]bool{}
	now := v.cfg.Now()
	for _, p := range v.cfg.Pods() {
		for i := range p.Spec.Volumes {
			spec := &p.Spec.Volumes[i]
			if spec.EmptyDir == nil {
				continue
			}
			key := volumeKey{p.UID, spec.Name}
			if v.known[key] == nil {
				v.known[key] = &volumeUse{
					name: spec.Name, path: v.cfg.Layout.VolumeDir(p.UID, volume.EmptyDirPlugin, spec.Name), memory: spec.EmptyDir.Medium != v1.StorageMediumDefault,
				}
			}
			there[key] = true
			out[p.UID] = append(out[p.UID], *v.known[key])
			if !v.known[key].memory && !now.Before(v.known[key].due) {
				select {
				case v.wanted <- struct{}{}:
				default:
				}
			}
		}
	}
	for key := range v.known {
		if !there[key] {
			delete(v.known, key)
		}
	}
	return out
}

// run counts when it is asked to, until ctx ends.
func (v *volumes) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-v.wanted:
		}
		for _, key := range v.due() {
			if ctx.Err() != nil {
				return
			}
			v.count(ctx, key)
		}
	}
}

// due returns the volumes whose files may be counted, the longest due first.
func (v *volumes) due() []volumeKey {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.cfg.Now()
	var keys []volumeKey
	for key, use := range v.known {
		if !use.memory && !now.Before(use.due) {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b volumeKey) int {
		return cmp.Or(v.known[a].due.Compare(v.known[b].due), cmp.Compare(a.uid, b.uid), cmp.Compare(a.name, b.name))
	})
	return keys
}

func (v *volumes) count(ctx context.Context, key volumeKey) {
	v.mu.Lock()
	use := v.known[key]
	v.mu.Unlock()
	if use == nil {
		return // the pod is gone
	}
	bounded, cancel := context.WithTimeout(ctx, countTime)
	defer cancel()
	began := v.cfg.Now()
	found, err := usage.Count(bounded, use.path, math.MaxInt64)
	now := v.cfg.Now()
	v.mu.Lock()
	defer v.mu.Unlock()
	use.due = now.Add(max(countAgain, countShare*now.Sub(began)))
	// Files that could not be read are few, or the count is not worth showing.
	if bounded.Err() == nil && (err == nil || found.Inodes > 0) && !found.Deep {
		use.counted, use.bytes, use.inodes = now, uint64(found.Bytes), uint64(found.Inodes)
	}
}

// volumeStats returns the statistics of emptyDirs, and those of them that use the disk. An emptyDir
// in memory is a file system of its own. One that is not counted yet is left out.
func volumeStats(all []volumeUse, disks *disks) (stats, onDisk []statsapi.VolumeStats) {
	for i := range all {
		use := &all[i]
		switch {
		case use.memory:
			if fs := disks.of(use.path); fs != nil {
				stats = append(stats, statsapi.VolumeStats{Name: use.name, FsStats: *fs})
			}
		case !use.counted.IsZero():
			one := statsapi.VolumeStats{Name: use.name, FsStats: *within(disks.of(use.path), metav1.NewTime(use.counted), &use.bytes, &use.inodes)}
			stats, onDisk = append(stats, one), append(onDisk, one)
		}
	}
	return stats, onDisk
}
