package unused

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/wardlet/wardlet/core/pod"
)

// record is what is known about an image. Only the time since the agent started counts.
type record struct {
	pod.Image
	// detected is when the image was first seen; zero for an image that was there when the agent
	// started.
	detected time.Time
	// used is when a container that uses the image was last seen; zero for never.
	used time.Time
}

// observe lists the images and updates the records. It returns the images that no container uses.
func (c *Collector) observe(ctx context.Context) ([]*record, error) {
	images, err := c.cfg.Runtime.Images(ctx)
	if err != nil {
		return nil, err
	}
	// Containers are listed after images: the image of a container that is created in between is used.
	used, err := c.cfg.Runtime.UsedImages(ctx)
	if err != nil {
		return nil, err
	}
	now := c.cfg.Now()
	first := c.records == nil
	if first {
		c.began = now
	}
	records := map[string]*record{}
	var free []*record
	for _, i := range images {
		r := c.records[i.ID]
		if r == nil {
			r = &record{}
			if !first {
				r.detected = now
			}
		}
		r.Image = i
		records[i.ID] = r
		if used[i.ID] || slices.ContainsFunc(i.Names, func(name string) bool { return used[name] }) {
			r.used = now
			continue
		}
		free = append(free, r)
	}
	c.records = records
	return free, nil
}

// unused returns the images that nothing needs, the least recently used first.
func (c *Collector) unused(ctx context.Context) ([]*record, error) {
	free, err := c.observe(ctx)
	if err != nil {
		return nil, err
	}
	free = slices.DeleteFunc(free, func(r *record) bool { return r.Pinned })
	if len(free) == 0 {
		return nil, nil
	}
	// Names of pods may be short; only the runtime knows which image they mean. A name that could be
	// the beginning of two IDs is an unknown error to it; such a name keeps what has it as its whole name.
	for _, name := range c.cfg.Wanted() {
		image, err := c.cfg.Runtime.Image(ctx, name)
		if answer, ok := status.FromError(err); err != nil && (!ok || answer.Code() != codes.Unknown) {
			return nil, err
		}
		if err != nil {
			free = slices.DeleteFunc(free, func(r *record) bool { return slices.ContainsFunc(r.Names, means(name)) })
			continue
		}
		if image != nil {
			free = slices.DeleteFunc(free, func(r *record) bool { return r.ID == image.ID })
		}
	}
	slices.SortFunc(free, func(a, b *record) int {
		return cmp.Or(a.used.Compare(b.used), a.detected.Compare(b.detected), cmp.Compare(a.ID, b.ID))
	})
	return free, nil
}

// means returns a function that reports whether a short name may mean an image's name.
func means(short string) func(name string) bool {
	return func(name string) bool {
		name, _ = strings.CutSuffix(name, ":latest")
		return name == short || strings.HasSuffix(name, "/"+short)
	}
}

// removeOld removes images that were unused for longer than MaxAge, and returns the others. Before
// the agent has run for so long, it does not know how old images are.
func (c *Collector) removeOld(ctx context.Context, unused []*record) (rest []*record, err error) {
	now := c.cfg.Now()
	if c.cfg.MaxAge == 0 || now.Sub(c.began) <= c.cfg.MaxAge {
		return unused, nil
	}
	for _, r := range unused {
		since := c.began
		for _, t := range []time.Time{r.used, r.detected} {
			if t.After(since) {
				since = t
			}
		}
		if now.Sub(since) <= c.cfg.MaxAge || c.wanted(r) {
			rest = append(rest, r)
			continue
		}
		err = cmp.Or(err, c.remove(ctx, r, ReasonAge))
	}
	return rest, err
}

// free removes images until so many bytes are freed, in the order of unused. It returns how many
// bytes the removed images had, and the first error.
func (c *Collector) free(ctx context.Context, unused []*record, bytes int64, reason string) (freed int64, err error) {
	now := c.cfg.Now()
	for _, r := range unused {
		if freed >= bytes || ctx.Err() != nil {
			break
		}
		if now.Sub(r.detected) < c.cfg.MinAge || c.wanted(r) {
			continue
		}
		if failure := c.remove(ctx, r, reason); failure != nil {
			err = cmp.Or(err, failure)
			continue
		}
		freed += r.SizeBytes
	}
	return freed, cmp.Or(err, ctx.Err())
}

// wanted reports whether a pod names an image, maybe one that arrived since the images were listed.
func (c *Collector) wanted(r *record) bool {
	return slices.ContainsFunc(c.cfg.Wanted(), func(name string) bool { return name == r.ID || slices.Contains(r.Names, wholeName(name)) })
}

// wholeName returns an image name as runtimes list it: "docker.io/library/nginx:1" for "nginx:1"; "" for
// a name that is not valid.
func wholeName(name string) string {
	repository, err := pod.ImageRepository(name)
	if err != nil {
		return ""
	}
	name, _ = pod.CompleteImage(name) // its error is that of ImageRepository
	last := name[strings.LastIndexByte(name, '/')+1:]
	return repository + last[strings.IndexAny(last, ":@"):]
}

func (c *Collector) remove(ctx context.Context, r *record, reason string) error {
	if err := c.cfg.Runtime.RemoveImage(ctx, r.ID); err != nil {
		return err
	}
	delete(c.records, r.ID)
	c.cfg.Log.Info("unused image removed", "image", r.ID, "names", r.Names, "bytes", r.SizeBytes, "reason", reason)
	if c.cfg.Removed != nil {
		c.cfg.Removed(reason)
	}
	return nil
}
