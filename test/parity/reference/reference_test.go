package reference

import (
	"bytes"
	_ "crypto/sha256" // the digests that containerd supports
	_ "crypto/sha512"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/distribution/reference"
)

// table has references and the full form of each, "-" for a refused one. It is also the test data
// of the agent's own parser and of those of the example plugins.
const table = "../../../plugins/examples/testdata/references.txt"

var update = flag.Bool("update", false, "write the table anew from its first column")

const head = `# References to images, and what containerd takes each for: - where it refuses it.
# Written by "go test ./reference -update" in test/parity; a line of its own, with
# nothing behind it, adds a reference.
`

// full returns a reference as containerd's CRI reads it (normalized by reference.ParseDockerRef),
// "-" if it cannot be parsed.
func full(text string) string {
	ref, err := reference.ParseDockerRef(text)
	if err != nil {
		return "-"
	}
	return ref.String()
}

func TestTable_isWhatContainerdReads(t *testing.T) {
	text, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	now := bytes.NewBufferString(head)
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		given, want, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		got := full(given)
		if got != want && !*update {
			t.Errorf("%s: the table says %s, and containerd reads %s", given, want, got)
		}
		fmt.Fprintf(now, "%s\t%s\n", given, got)
	}
	if *update {
		if err := os.WriteFile(table, now.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
