package worker

import (
	"context"
	"slices"
	"time"
)

const (
	// stopTimeout is how long calls in flight may go on after Stop.
	stopTimeout = 10 * time.Second
	// leaveTimeout is how long they may take to end when they are given up.
	leaveTimeout = 5 * time.Second
)

// Stop takes no more requests, starts no more calls, gives the calls in flight
// 10 s or until ctx ends, and waits for all workers. A worker whose call ignores
// for 5 s more that it is to end is left behind. Every pod is left as it is.
func (p *Pool) Stop(ctx context.Context) {
	p.mu.Lock()
	p.stopped = true
	for _, rec := range p.records {
		rec.retire()
	}
	p.mu.Unlock()
	p.drain()
	defer p.abandon()

	ended := make(chan struct{})
	go func() {
		p.workers.Wait()
		close(ended)
	}()
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	select {
	case <-ended:
		return
	case <-ctx.Done():
	}
	p.abandon()
	timer := time.NewTimer(leaveTimeout)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		p.log.Error("workers are left behind whose calls do not end", "pods", p.busy())
	}
}

// busy are the pods whose worker takes a turn.
func (p *Pool) busy() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var pods []string
	for uid, rec := range p.records {
		switch {
		case rec.cancel == nil:
		case rec.pod == nil:
			pods = append(pods, string(uid))
		default:
			pods = append(pods, rec.pod.Namespace+"/"+rec.pod.Name)
		}
	}
	slices.Sort(pods)
	return pods
}
