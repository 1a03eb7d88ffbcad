package scaffold

import (
	"cmp"
	"embed"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// templates has a folder "all" for every scaffold, one for each language, one for each
// hook, and one for each pair of language and hook. The names of the files end in .tmpl, so
// that no tool treats them as Go, C or TOML.
//
//go:embed templates
var templates embed.FS

// render returns the files of a scaffold, sorted by path. If several folders have a file
// with the same name, their contents are joined. {{name}} and similar placeholders stand
// for the options. NAME in a path stands for the policy's name.
func render(o *Options) ([]file, error) {
	values := strings.NewReplacer("{{name}}", o.Name, "{{hook}}", o.Hook)
	all := map[string]*strings.Builder{}
	for _, layer := range []string{"all", o.Language, o.Hook, o.Language + "-" + o.Hook} {
		root := path.Join("templates", layer)
		err := fs.WalkDir(templates, root, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			text, err := fs.ReadFile(templates, name)
			if err != nil {
				return err
			}
			name = strings.TrimSuffix(strings.TrimPrefix(name, root+"/"), ".tmpl")
			name = strings.ReplaceAll(name, "NAME", o.Name)
			if all[name] == nil {
				all[name] = &strings.Builder{}
			}
			_, err = values.WriteString(all[name], string(text))
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	files := make([]file, 0, len(all))
	for name, text := range all {
		files = append(files, file{name, []byte(text.String())})
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.path, b.path) })
	return files, nil
}
