package packaging

import (
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/state"
)

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sources is the text of the product's Go files, without tests.
func sources(t *testing.T, dirs ...string) string {
	t.Helper()
	var all strings.Builder
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				all.WriteString(read(t, path))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}

// section is what follows a heading of the second level.
func section(t *testing.T, text, heading string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, "\n## "+heading+"\n")
	if !found {
		t.Fatalf("no section %q", heading)
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	return rest
}

var code = regexp.MustCompile("`([^`]+)`")

func TestOperationsQuotesWhatTheAgentSays(t *testing.T) {
	t.Parallel()
	// Literals of one text may be broken into several.
	said := strings.Join(strings.Fields(sources(t, "../core", "../cmd")+read(t, "../agent.toml")), " ")
	said = strings.ToLower(strings.NewReplacer(`" + "`, "", `\"`, `"`).Replace(said))
	rows := 0
	for row := range strings.Lines(section(t, read(t, "../docs/operations.md"), "Trouble")) {
		cells := strings.Split(row, "|")
		if len(cells) < 3 || !strings.HasPrefix(strings.TrimSpace(cells[1]), "`") {
			continue
		}
		rows++
		for _, quoted := range code.FindAllStringSubmatch(cells[1], -1) {
			if !strings.Contains(said, strings.ToLower(quoted[1])) {
				t.Errorf("nothing says %q", quoted[1])
			}
		}
	}
	if rows < 10 {
		t.Errorf("%d rows were read", rows)
	}
}

func TestOperationsNamesKeysThatThereAre(t *testing.T) {
	t.Parallel()
	keys := read(t, "../agent.toml")
	for row := range strings.Lines(section(t, read(t, "../docs/operations.md"), "Where things are")) {
		cells := strings.Split(row, "|")
		if len(cells) < 4 {
			continue
		}
		for _, key := range code.FindAllStringSubmatch(cells[2], -1) {
			if !strings.Contains(keys, "\n#"+key[1]+" = ") {
				t.Errorf("agent.toml has no %s", key[1])
			}
		}
	}
}

func TestOperationsNamesEveryDirectoryOfTheState(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "state")
	d, err := state.Open(root, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	text := section(t, read(t, "../docs/operations.md"), "Where things are")
	for _, entry := range entries {
		if entry.IsDir() && !strings.Contains(text, "`…/state/"+entry.Name()+"`") {
			t.Errorf("%s is not named", entry.Name())
		}
	}
}

func TestOperationsNamesCommandsThatThereAre(t *testing.T) {
	t.Parallel()
	var uses []string
	for _, use := range regexp.MustCompile(`Use: +"([a-z]+)`).FindAllStringSubmatch(sources(t, "../cmd/agent"), -1) {
		uses = append(uses, use[1])
	}
	text := read(t, "../docs/operations.md") + read(t, "README.md")
	commands := regexp.MustCompile("(?m)(?:`|^)wardlet ([a-z]+)(?: ([a-z]+))?").FindAllStringSubmatch(text, -1)
	if len(commands) < 5 {
		t.Errorf("%d commands were read", len(commands))
	}
	for _, command := range commands {
		for _, word := range command[1:] {
			if word != "" && !slices.Contains(uses, word) {
				t.Errorf("%q: there is no %s", command[0], word)
			}
		}
	}
}
