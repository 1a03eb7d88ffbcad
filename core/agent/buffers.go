package agent

import (
	"google.golang.org/grpc/experimental"
	"google.golang.org/grpc/mem"
)

// What gRPC reads a message into comes from a pool, whose buffers have 32 KiB or,
// for the next byte, 1 MiB. A list of 60 pods is longer than the one and much
// shorter than the other, and what is in the pool stays over two garbage
// collections: so the agent has the sizes between these, too.
//
// It is an init function because gRPC wants this to be set before anything uses it.
func init() {
	pool, err := mem.NewBinaryTieredBufferPool(8, 12, 14, 15, 16, 17, 18, 19, 20)
	if err != nil {
		return // it has the sizes it had
	}
	experimental.SetDefaultBufferPool(pool)
}
