package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// statisticsPaths are what monitoring reads of a node, and statisticsPeriod how often.
var statisticsPaths = []string{"stats/summary", "metrics/resource", "metrics/cadvisor"}

const statisticsPeriod = 10 * time.Second

// reading measures the processor time with many pods while all statistics are read.
func (t *turn) reading(ctx context.Context) error {
	if err := t.fill(ctx, t.many); err != nil {
		return err
	}
	within, stop := context.WithCancel(ctx)
	read := make(chan error, 1)
	go func() { read <- t.read(within) }()
	perSecond, err := t.perSecond(ctx)
	stop()
	if err := errors.Join(err, <-read); err != nil {
		return err
	}
	t.measured.add(statistics, t.side, perSecond)
	t.say("%s with %d pods, whose statistics are read every %s, takes %.1f ms of processor time a second", t.side, t.many, statisticsPeriod, perSecond/1e6)
	return nil
}

// read reads all statistics again and again until ctx ends.
func (t *turn) read(ctx context.Context) error {
	for {
		for _, path := range statisticsPaths {
			err := t.admin.Do(ctx, http.MethodGet, "/api/v1/nodes/"+t.i.Env["NODE_NAME"]+"/proxy/"+path, nil)
			if err != nil && ctx.Err() == nil {
				return fmt.Errorf("read %s: %w", path, err)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(statisticsPeriod):
		}
	}
}
