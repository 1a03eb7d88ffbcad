package plane

import (
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/wardlet/wardlet/test/wasmtest"
)

// These variables make a process of this program a rewriter. They have its
// directory, and how many sets were written before.
const (
	rewriterDir  = "WARDLET_TEST_REWRITES"
	rewriterFrom = "WARDLET_TEST_REWROTE"
)

// rewriter writes one set after the other into a directory until the end of its standard input: in
// turn some without pauses, and some with pauses in which each set is loaded. It prints how many
// sets were written, and returns an exit status.
func rewriter(dir string) int {
	rewrote, err := strconv.Atoi(os.Getenv(rewriterFrom))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, os.Stdin)
	}()
	random := rand.New(rand.NewPCG(5, uint64(rewrote))) // rewrote is not negative
	kinds := slices.Sorted(maps.Keys(faults))
	for {
		rewrote++
		number := 10_000 + rewrote
		c := good(number, 0)
		switch rewrote % 4 {
		case 0:
			module(func(int) []byte { return wasmtest.Trapping() })(&c, number)
		case 1:
			module(func(int) []byte { return wasmtest.Looping() })(&c, number)
		case 2:
			faults[kinds[random.IntN(len(kinds))]](&c, number)
		}
		if err := c.write(dir, random.IntN(2) == 0); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		pause := time.Duration(0)
		if rewrote/100%2 == 1 {
			pause = 150 * time.Millisecond
		}
		select {
		case <-ended:
			fmt.Println(rewrote)
			return 0
		case <-time.After(pause):
		}
	}
}
