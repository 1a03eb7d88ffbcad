package scaffold

import (
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// options returns valid options, changed by change.
func options(t *testing.T, change func(*Options)) Options {
	t.Helper()
	o := Options{Name: "mine", Language: "go", Hook: "admit", Dir: filepath.Join(t.TempDir(), "mine")}
	change(&o)
	return o
}

func TestWhatCannotBeMadeIsRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"called as a manifest":    {func(o *Options) { o.Name = "set" }, "set.toml is the list of files of a signed set"},
		"without a name":          {func(o *Options) { o.Name = "" }, `"" cannot be the name of a policy, which is a DNS label: `},
		"with a name in capitals": {func(o *Options) { o.Name = "Mine" }, `"Mine" cannot be the name`},
		"with a path for a name":  {func(o *Options) { o.Name = "../mine" }, `"../mine" cannot be the name`},
		"with a long name":        {func(o *Options) { o.Name = strings.Repeat("a", 64) }, "no more than 63"},
		"in another language":     {func(o *Options) { o.Language = "rust" }, `there is no scaffold in "rust"; want go, c`},
		"for another hook":        {func(o *Options) { o.Hook = "evict" }, `there is no hook "evict"; want admit, merge, filter, connect`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t, test.change)
			if _, err := New(o); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
			if _, err := os.Stat(o.Dir); err == nil {
				t.Error("the folder is made")
			}
		})
	}
}

func TestNothingIsOverwritten(t *testing.T) {
	t.Parallel()
	o := options(t, func(*Options) {})
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := New(o); err != nil {
		t.Errorf("a folder that is empty: %v", err)
	}
	module := filepath.Join(o.Dir, "go.mod")
	before, err := os.ReadFile(module)
	if err != nil {
		t.Fatal(err)
	}
	o.Name = "another"
	if _, err := New(o); err == nil || !strings.Contains(err.Error(), "is not empty, it holds Makefile; name a folder that is empty or missing") {
		t.Errorf("a folder with files: %v", err)
	}
	if after, err := os.ReadFile(module); err != nil || string(after) != string(before) {
		t.Error("a file is another one")
	}
	if there := (&file{path: "go.mod"}); there.write(o.Dir) == nil {
		t.Error("a file that is there is written")
	}
	o.Dir = module
	if _, err := New(o); err == nil || !strings.Contains(err.Error(), "the folder cannot be made") {
		t.Errorf("a file: %v", err)
	}
}

func TestNothingOfATemplateIsLeftOpen(t *testing.T) {
	t.Parallel()
	open := regexp.MustCompile(`\{\{[a-z]+\}\}|NAME\.|\.tmpl`)
	for _, language := range Languages {
		for _, hook := range Hooks {
			o := options(t, func(o *Options) { o.Language, o.Hook = language, hook })
			names, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"Makefile", "README.md", "mine.toml"} {
				if !slices.Contains(names, want) {
					t.Errorf("%s, %s: no %s among %q", language, hook, want, names)
				}
			}
			for _, name := range names {
				text, err := os.ReadFile(filepath.Join(o.Dir, name))
				if err != nil {
					t.Fatal(err)
				}
				if found := open.Find(text); found != nil {
					t.Errorf("%s, %s: %s has %s", language, hook, name, found)
				}
				if formatted, err := format.Source(text); strings.HasSuffix(name, ".go") && (err != nil || string(formatted) != string(text)) {
					t.Errorf("%s is not formatted: %v", name, err)
				}
			}
			if info, err := os.Stat(filepath.Join(o.Dir, "sdk", "test.sh")); language == "c" && (err != nil || info.Mode()&0o111 == 0) {
				t.Errorf("sdk/test.sh cannot be run: %v", err)
			}
		}
	}
}

// tools/plugins builds the examples with flags that produce the same bytes on every
// machine. The Makefile of a scaffold must use the same flags.
func TestPluginsAreBuiltAsTheExamplesAre(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ language, source, command string }{
		{"go", "build.go", `exec\.CommandContext\(ctx, "go", ((?s).*?)"-o"`},
		{"go", "build.go", `return append\(env, ((?s).*?)"GOPROXY=off"\)`},
		{"c", "cplugin.go", `args := \[\]string\{((?s).*?)"-o"`},
	} {
		source, err := os.ReadFile(filepath.Join(checkout, "tools", "plugins", test.source))
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(test.command).FindSubmatch(source)
		if found == nil {
			t.Fatalf("%s has no command such as %s", test.source, test.command)
		}
		flags := regexp.MustCompile(`"([^"]+)"`).FindAllSubmatch(found[1], -1)
		if len(flags) < 3 {
			t.Errorf("%s: only %q", test.source, flags)
		}
		o := options(t, func(o *Options) { o.Language = test.language })
		if _, err := New(o); err != nil {
			t.Fatal(err)
		}
		makefile, err := os.ReadFile(filepath.Join(o.Dir, "Makefile"))
		if err != nil {
			t.Fatal(err)
		}
		for _, flag := range flags {
			want := strings.NewReplacer("-ldflags=-s -w -buildid=", "-ldflags='-s -w -buildid='").Replace(string(flag[1]))
			if want == "@" || want == "/wasm.flags" {
				want = "@sdk/wasm.flags"
			}
			if !strings.Contains(string(makefile), want) {
				t.Errorf("the Makefile for %s does not have %s", test.language, want)
			}
		}
	}
}
