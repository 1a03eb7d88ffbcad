package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestUsageMore(t *testing.T) {
	t.Parallel()
	fresh := usage{files: map[string]int{"socket:": 3, "/log": 1}, goroutines: 40}
	for name, test := range map[string]struct {
		used usage
		want []string
	}{
		"the same":            {fresh, nil},
		"less":                {usage{map[string]int{"socket:": 2}, 30}, nil},
		"another socket":      {usage{map[string]int{"socket:": 4, "/log": 1}, 40}, []string{"4 descriptors of socket:, where a fresh agent has 3"}},
		"another file":        {usage{map[string]int{"/gone (deleted)": 2}, 40}, []string{"2 descriptors of /gone (deleted), where a fresh agent has 0"}},
		"some more plugins":   {usage{map[string]int{pluginMemory: 2}, 40}, nil},
		"many more plugins":   {usage{map[string]int{pluginMemory: 3}, 40}, []string{"3 descriptors of " + pluginMemory + ", where a fresh agent has 0"}},
		"some more goroutine": {usage{nil, 42}, nil},
		"many goroutines":     {usage{nil, 43}, []string{"43 goroutines, where a fresh agent has 40"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := test.used.more(&fresh); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	if got := fresh.open(); got != 4 {
		t.Errorf("%d are open", got)
	}
}

func TestOpenFilesGoByWhatTheyAreOf(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	for range 2 {
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
	}
	got, err := openFiles(os.Getpid())
	if err != nil || got[kindOfFile(path)] != 2 {
		t.Errorf("open are %v, %v", got, err)
	}
	for name, want := range map[string]string{
		"socket:[123]": "socket", "anon_inode:[eventpoll]": "anon_inode:[eventpoll]", "/a:b/c[1]": "/a:b/c[#]", "[": "[",
		"/proc/11386/pagemap": "/proc/#/pagemap", "/modules/ebf91fa51088de6033549d374af31db5/entry.json": "/modules/#/entry.json",
	} {
		if got := kindOfFile(name); got != want {
			t.Errorf("%s is %s", name, got)
		}
	}
}

func TestMetric(t *testing.T) {
	t.Parallel()
	const text = "# HELP go_goroutines x\n# TYPE go_goroutines gauge\ngo_goroutines_total 5\ngo_goroutines 42\n"
	if got, err := metric(strings.NewReader(text), "go_goroutines"); err != nil || got != 42 {
		t.Errorf("got %d, %v", got, err)
	}
	for _, text := range []string{"", "go_goroutines many\n"} {
		if got, err := metric(strings.NewReader(text), "go_goroutines"); err == nil {
			t.Errorf("%q gives %d", text, got)
		}
	}
}

func TestAddressesIn(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "network"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"10.1.2.3", "lock", "last_reserved_ip.0"} {
		if err := os.WriteFile(filepath.Join(root, "network", name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := addressesIn(root); err != nil || !slices.Equal(got, []string{"10.1.2.3"}) {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := addressesIn(filepath.Join(root, "none")); err != nil || got != nil {
		t.Errorf("of none: %q, %v", got, err)
	}
}
