package runtime

import (
	"context"
	"time"
)

// outlive gives a context that ends so long after ctx, or when it is released.
func outlive(ctx context.Context, by time.Duration) (longer context.Context, release context.CancelFunc) {
	longer, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(by, end) })
	return longer, func() {
		stop()
		end()
	}
}
