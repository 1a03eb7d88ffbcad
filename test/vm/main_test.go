//go:build vm

package vm

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// cuts is the number of power cuts.
var cuts = flag.Int("cuts", 2, "power cuts of TestPods_afterPowerCuts")

func TestMain(m *testing.M) {
	flag.Parse()
	if os.Getuid() != 0 {
		fmt.Fprintln(os.Stderr, "the tests of test/vm start a machine: run them as root")
		os.Exit(1)
	}
	if kernels[*kernel] == nil {
		fmt.Fprintf(os.Stderr, "-kernel is %q, and must be uml or cloud\n", *kernel)
		os.Exit(2)
	}
	os.Exit(m.Run())
}
