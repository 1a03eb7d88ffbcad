package worker

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Pool holds the workers of all pods. Its methods may be called from any
// goroutine.
type Pool struct {
	cfg     Config
	log     *slog.Logger
	queue   *queue
	backoff *restartBackoff
	// frequency is how often a pod that is as it should be is looked at.
	frequency atomic.Int64

	// draining ends when Stop begins: no further call is to be started.
	draining context.Context
	drain    context.CancelFunc
	// calls ends when calls in flight are to be given up.
	calls   context.Context
	abandon context.CancelFunc
	workers sync.WaitGroup

	mu      sync.Mutex
	stopped bool
	// synced: Known has been called, so a UID without a record is a pod that
	// has nothing running.
	synced  bool
	records map[types.UID]*record
	// followers are the pods that start when the one with that UID has left.
	followers map[types.UID][]types.UID
	gate      startGate
}

// New makes a pool without workers.
func New(cfg Config) *Pool {
	p := &Pool{
		cfg:       cfg,
		log:       cfg.Log,
		queue:     newQueue(cfg.Now),
		backoff:   newRestartBackoff(cfg.Now),
		records:   map[types.UID]*record{},
		followers: map[types.UID][]types.UID{},
		gate:      newStartGate(),
	}
	p.draining, p.drain = context.WithCancel(context.Background())
	p.calls, p.abandon = context.WithCancel(context.Background())
	p.frequency.Store(int64(cfg.SyncFrequency))
	return p
}

// SetSyncFrequency changes Config.SyncFrequency, which is positive. No pod waits
// for longer than that from now.
func (p *Pool) SetSyncFrequency(d time.Duration) {
	p.frequency.Store(int64(d))
	p.queue.hasten(func() time.Duration { return p.cfg.Jitter(d) })
}

func (p *Pool) syncFrequency() time.Duration { return time.Duration(p.frequency.Load()) }

// Due takes the pods whose time to be looked at again has come. The caller
// asks for a Sync of those it still wants.
func (p *Pool) Due() []types.UID { return p.queue.take() }

// proceed says whether a turn may go on to its next call.
func (p *Pool) proceed(ctx context.Context) error {
	if err := p.draining.Err(); err != nil {
		return err
	}
	return ctx.Err()
}
