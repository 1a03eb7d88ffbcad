package main

import (
	"slices"
	"strings"
	"testing"
)

// made returns a module with the given sections.
func made(sections ...string) []byte {
	return []byte("\x00asm\x01\x00\x00\x00" + strings.Join(sections, ""))
}

func section(id byte, content string) string {
	return string([]byte{id, byte(len(content))}) + content
}

func text(s string) string { return string(rune(len(s))) + s }

func imports(names ...string) string {
	var all strings.Builder
	for _, name := range names {
		of, name, _ := strings.Cut(name, ".")
		all.WriteString(text(of) + text(name) + "\x00\x05")
	}
	return section(sectionImport, string(rune(len(names)))+all.String())
}

func exports(names ...string) string {
	var all strings.Builder
	for i, name := range names {
		all.WriteString(text(name) + "\x00" + string(rune(i)))
	}
	return section(sectionExport, string(rune(len(names)))+all.String())
}

var good = exports("memory", "wardlet_abi_1_0", "wardlet_admit")

func TestModulesShowImportsAndExports(t *testing.T) {
	m, err := readModule(made(section(0, "\x04name!"), imports("wardlet1.path", "env.abort"), section(3, "x"), good))
	if err != nil {
		t.Fatal(err)
	}
	if want := []function{{"wardlet1", "path"}, {"env", "abort"}}; !slices.Equal(m.imports, want) {
		t.Errorf("imports %v", m.imports)
	}
	if want := []string{"memory", "wardlet_abi_1_0", "wardlet_admit"}; !slices.Equal(m.exports, want) {
		t.Errorf("exports %q", m.exports)
	}
	if m.start {
		t.Error("it has a start section")
	}
}

func TestModulesNoAgentWouldLoadAreRefused(t *testing.T) {
	for what, test := range map[string]struct {
		module []byte
		want   string
	}{
		"nothing":                   {nil, "not a WebAssembly module"},
		"another version":           {[]byte("\x00asm\x02\x00\x00\x00"), "not a WebAssembly module of version 1"},
		"a component":               {[]byte("\x00asm\x0d\x00\x01\x00"), "not a WebAssembly module of version 1"},
		"no exports":                {made(), "does not export memory"},
		"no marker":                 {made(exports("memory", "wardlet_admit")), "does not export wardlet_abi_1_0"},
		"no hook":                   {made(exports("memory", "wardlet_abi_1_0", "wardlet_init")), "exports no hook"},
		"a foreign module":          {made(imports("env.abort"), good), "imports abort of env"},
		"an unknown function":       {made(imports("wardlet1.exec"), good), "imports exec of wardlet1"},
		"WASI that is not offered":  {made(imports("wasi_snapshot_preview1.path_open"), good), "imports path_open"},
		"a start section":           {made(good, section(sectionStart, "\x00")), "start section"},
		"an imported memory":        {made(section(sectionImport, "\x01"+text("env")+text("memory")+"\x02\x00\x01"), good), "memory of env is imported"},
		"a section beyond its end":  {made("\x01\x7f"), "127 bytes are announced"},
		"a number without end":      {made("\x01\xff\xff\xff\xff\xff\x01"), "more than 32 bits"},
		"a number beyond 32 bits":   {made("\x01\xff\xff\xff\xff\x1f"), "more than 32 bits"},
		"exports beyond their end":  {made(section(sectionExport, "\x02"+text("memory")+"\x02\x00")), "are left"},
		"imports beyond their end":  {made(section(sectionImport, "\x01\x01e")), "are left"},
		"billions of empty imports": {made(section(sectionImport, "\xff\xff\xff\xff\x0f")), "are left"},
	} {
		if err := checkModule(test.module); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", what, err, test.want)
		}
	}
	if err := checkModule(made(imports("wardlet1.path"), good)); err == nil || !strings.Contains(err.Error(), "wardlet_init") ||
		!strings.Contains(err.Error(), "wardlet_input") {
		t.Errorf("fields declared, but no place for them: %v", err)
	}
	if err := checkModule(made(imports("wardlet1.field"), good)); err == nil || !strings.Contains(err.Error(), "wardlet_init") ||
		strings.Contains(err.Error(), "wardlet_input") {
		t.Errorf("lazy fields declared, but no time for it: %v", err)
	}
	for _, hook := range []string{"wardlet_admit", "wardlet_merge", "wardlet_filter"} {
		if err := checkModule(made(imports("wardlet1.get", "wardlet1.json", "wardlet1.patch"), exports("memory", "wardlet_abi_1_0", hook))); err != nil {
			t.Errorf("a plugin with %s: %v", hook, err)
		}
	}
	if err := checkModule(made(imports("wardlet1.log_enabled", "wasi_snapshot_preview1.fd_write"), good)); err != nil {
		t.Errorf("a plugin: %v", err)
	}
}

func FuzzReadModule(f *testing.F) {
	f.Add(made(imports("wardlet1.path"), good, section(sectionStart, "\x00")))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := readModule(data)
		if err != nil {
			return
		}
		for _, name := range m.exports {
			if !strings.Contains(string(data), name) {
				t.Errorf("export %q stands nowhere", name)
			}
		}
	})
}
