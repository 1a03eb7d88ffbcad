package attack

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

//go:embed modules/*.wat choices/*.wat
var sources embed.FS

// The folders of sources.
const (
	modulesDir = "modules" // asked by the hook admit alone
	choicesDir = "choices" // asked by the hooks merge and filter, some by admit too
)

const ending = ".wat"

// Modules assembles all attacks on the hook admit, sorted by name. It keeps assembled modules in
// the directory cache, which must exist, for the next call. The error lists all modules that cannot
// be assembled, or says what to install.
func Modules(ctx context.Context, cache string) ([]*Module, error) {
	texts, err := written(modulesDir)
	if err != nil {
		return nil, err
	}
	for name, text := range generated() {
		if texts[name] != "" {
			return nil, fmt.Errorf("two attacks of the name %s", name)
		}
		texts[name] = text
	}
	return assembled(ctx, cache, texts)
}

// Choices assembles the attacks on the hooks merge and filter, as Modules does.
func Choices(ctx context.Context, cache string) ([]*Module, error) {
	texts, err := written(choicesDir)
	if err != nil {
		return nil, err
	}
	return assembled(ctx, cache, texts)
}

// Bombs assembles the modules within all caps that are hard to compile, as Modules does.
func Bombs(ctx context.Context, cache string) ([]*Module, error) {
	return assembled(ctx, cache, bombs())
}

// written returns the sources in a folder, by name.
func written(dir string) (map[string]string, error) {
	entries, err := sources.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for _, e := range entries {
		text, err := sources.ReadFile(path.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		texts[strings.TrimSuffix(e.Name(), ending)] = string(text)
	}
	return texts, nil
}

func assembled(ctx context.Context, cache string, texts map[string]string) ([]*Module, error) {
	var modules []*Module
	var faults []error
	for name, text := range texts {
		m, err := parseHeader(name, text)
		if err == nil {
			m.Binary, err = assemble(ctx, cache, text, m.features)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%s%s: %w", name, ending, err))
			continue
		}
		modules = append(modules, m)
	}
	slices.SortFunc(modules, func(a, b *Module) int { return strings.Compare(a.Name, b.Name) })
	return modules, errors.Join(faults...)
}
