package unused

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/wardlet/wardlet/core/internal/filesystem"
	"github.com/wardlet/wardlet/core/pod"
)

// period is the time between two passes, as in a kubelet.
const period = 5 * time.Minute

// Why an image was removed.
const (
	ReasonAge      = "age"
	ReasonSpace    = "space"
	ReasonPressure = "pressure"
)

// Reasons of events about the node, as of a kubelet.
const (
	reasonFailed   = "ImageGCFailed"
	reasonTooFew   = "FreeDiskSpaceFailed"
	reasonCapacity = "InvalidDiskCapacity"
)

// Runtime is the image service of a container runtime, with its information about containers.
type Runtime interface {
	// Images returns all images that are present.
	Images(ctx context.Context) ([]pod.Image, error)
	// UsedImages returns the images of all containers: IDs, names and digests.
	UsedImages(ctx context.Context) (map[string]bool, error)
	// Image returns the image with the name, digest or ID ref, nil if it is not present.
	Image(ctx context.Context, ref string) (*pod.Image, error)
	RemoveImage(ctx context.Context, id string) error
	// ImageStore returns a directory on the file system of images, empty if it is unknown.
	ImageStore(ctx context.Context) (path string, err error)
}

// Config holds the settings and dependencies of a Collector. Removed is optional.
type Config struct {
	// High and Low are in percent: when so much of the file system of images is in use, images are
	// removed until Low is left in use. With High = 100 none is removed for space.
	High, Low int64
	// MinAge is for how long an image stays after it was first seen, and MaxAge for how long it stays
	// unused; 0 means that it has no such limit.
	MinAge, MaxAge time.Duration
	Runtime        Runtime
	// Wanted returns the names of images that must stay although no container may use them yet.
	Wanted func() []string
	// NodeEvent records a warning about the node.
	NodeEvent func(reason, message string)
	// Removed is called for each removed image, with one of the reasons above.
	Removed func(reason string)
	Log     *slog.Logger
	// Now is the wall clock; its times carry a monotonic reading.
	Now func() time.Time
}

// Collector removes unused images.
type Collector struct {
	cfg   Config
	files filesystem.Reader

	// turn has one place; the goroutine that has it may use the fields below.
	turn chan struct{}
	// records are the images of the last observation, by ID; nil before the first.
	records map[string]*record
	// began is the time of the first observation.
	began time.Time
	// failed is whether the last pass failed.
	failed bool
}

// New makes a Collector.
func New(cfg Config) *Collector { return &Collector{cfg: cfg, turn: make(chan struct{}, 1)} }

// Run observes the images at once, and makes a pass every five minutes until ctx ends.
func (c *Collector) Run(ctx context.Context) {
	_ = c.alone(ctx, func() error { _, err := c.observe(ctx); return err }) // the first pass tells of the error
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			_ = c.alone(ctx, func() error { c.report(ctx, c.pass(ctx)); return nil })
		case <-ctx.Done():
			return
		}
	}
}

// RemoveAll removes all images that nothing needs but those that are younger than MinAge. It returns
// the first error.
func (c *Collector) RemoveAll(ctx context.Context) error {
	return c.alone(ctx, func() error {
		unused, err := c.unused(ctx)
		if err != nil {
			return err
		}
		_, err = c.free(ctx, unused, math.MaxInt64, ReasonPressure)
		return err
	})
}

// alone calls f when no other call is in progress.
func (c *Collector) alone(ctx context.Context, f func() error) error {
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-c.turn }()
	return f()
}

// pass removes images that were unused for too long, and others if the disk is too full.
func (c *Collector) pass(ctx context.Context) error {
	unused, err := c.unused(ctx)
	if err != nil {
		return err
	}
	unused, err = c.removeOld(ctx, unused)
	return errors.Join(err, c.makeSpace(ctx, unused))
}

// report logs the error of a pass. The second one in a row is also an event.
func (c *Collector) report(ctx context.Context, err error) {
	again := c.failed
	if c.failed = err != nil && ctx.Err() == nil; !c.failed {
		return
	}
	c.cfg.Log.Warn("unused images cannot be removed", "err", err)
	if again {
		c.cfg.NodeEvent(reasonFailed, err.Error())
	}
}

// makeSpace removes images if too much of the file system is in use.
func (c *Collector) makeSpace(ctx context.Context, unused []*record) error {
	if c.cfg.High >= 100 {
		return nil
	}
	path, err := c.cfg.Runtime.ImageStore(ctx)
	switch {
	case err != nil:
		return err
	case path == "":
		return errors.New("the runtime does not say where its images are")
	}
	fs, err := c.files.Of(ctx, path)
	if err != nil {
		return err
	}
	if fs.Capacity <= 0 {
		c.cfg.NodeEvent(reasonCapacity, fmt.Sprintf("the file system of images, %s, has the capacity %d", path, fs.Capacity))
		return fmt.Errorf("the file system of %s has the capacity %d", path, fs.Capacity)
	}
	used := 100 - min(fs.Available, fs.Capacity)*100/fs.Capacity
	if used < c.cfg.High {
		return nil
	}
	wanted := fs.Capacity*(100-c.cfg.Low)/100 - fs.Available
	c.cfg.Log.Info("the file system of images is too full", "path", path, "used_percent", used, "bytes_to_free", wanted)
	freed, err := c.free(ctx, unused, wanted, ReasonSpace)
	if err != nil || freed >= wanted {
		return err
	}
	c.cfg.NodeEvent(reasonTooFew, fmt.Sprintf("%d %% of the file system of images, %s, are in use: %d bytes should be freed, but unused images have only %d; remove other files, or use a larger disk",
		used, path, wanted, freed))
	return fmt.Errorf("unused images have %d bytes of the %d that should be freed on the file system of %s", freed, wanted, path)
}
