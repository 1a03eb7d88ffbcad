package agent

import (
	"testing"

	"google.golang.org/grpc/mem"
)

func TestAMessageTakesNoMoreThanTwiceItsSize(t *testing.T) {
	t.Parallel()
	for size := 16 << 10; size <= 1<<20; size += 5000 {
		buffer := mem.DefaultBufferPool().Get(size)
		if got := cap(*buffer); got > 2*size {
			t.Errorf("%d bytes take %d", size, got)
		}
		mem.DefaultBufferPool().Put(buffer)
	}
}
