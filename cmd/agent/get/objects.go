package get

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/api"
)

func (a *app) getObjectsCommand() *cobra.Command {
	var flags getFlags
	cmd := &cobra.Command{
		Use:     "objects [NAME...]",
		Aliases: []string{"object"},
		Short:   "Show the ConfigMaps, Secrets, services and runtime classes that pods here use",
		Long: "Shows the objects that pods of this node name, and all objects of the directory of objects. FROM\n" +
			"is cluster, or the document in the directory; KEYS counts the keys of the data, BYTES their\n" +
			"values, which are never shown. The wide table has the digests that policies see: another digest\n" +
			"means that the content changed. The lines below name what is missing, and each document that\n" +
			"cannot be used.",
		RunE: func(cmd *cobra.Command, names []string) error {
			if err := flags.check(cmd); err != nil {
				return err
			}
			c, err := a.Client(cmd)
			if err != nil {
				return err
			}
			g := getter{app: a, flags: flags, kind: "object", kinds: "objects", columns: objectColumns, names: names, several: true}
			wide := flags.output == cli.FormatWide
			if wide {
				g.columns = append(slices.Clone(objectColumns), "DIGEST")
			}
			g.list = func(ctx context.Context) (listing, error) {
				var list []api.Object
				if err := c.Get(ctx, "/v1/objects", &list); err != nil {
					return listing{}, err
				}
				entries := make([]entry, len(list))
				for i := range list {
					entries[i] = objectEntry(&list[i], wide)
				}
				return listing{entries: entries}, nil
			}
			return g.run(cmd.Context())
		},
	}
	flags.add(cmd)
	return cmd
}

var objectColumns = []string{"KIND", "NAMESPACE", "NAME", "FROM", "KEYS", "BYTES", "USED BY"}

// maxUsers is the largest number of pods that are named as users of an object.
const maxUsers = 3

func objectEntry(o *api.Object, wide bool) entry {
	name, from, keys, bytes, users := cmp.Or(o.Name, "*"), "cluster", "-", "-", "none"
	if o.Local {
		from = cmp.Or(o.Document, "-")
	}
	if o.Found {
		keys, bytes = strconv.Itoa(len(o.Keys)), strconv.Itoa(o.Bytes)
	}
	if len(o.UsedBy) > 0 {
		users = strings.Join(o.UsedBy[:min(len(o.UsedBy), maxUsers)], ",")
	}
	if more := len(o.UsedBy) - maxUsers; more > 0 {
		users += fmt.Sprintf(" and %d more", more)
	}
	whole := name
	if o.Namespace != "" {
		whole = o.Namespace + "/" + name
	}
	var notes []note
	switch {
	case o.Kind == "":
		name = cmp.Or(o.Name, "-")
		notes = append(notes, lasting(o.Err+" (what it was before stays in force)"))
	case o.Err != "":
		notes = append(notes, lasting(fmt.Sprintf("%s %s: %s", o.Kind, whole, o.Err)))
	case !o.Known:
		notes = append(notes, lasting(fmt.Sprintf("%s %s is not known yet: where it comes from has not answered", o.Kind, whole)))
	case !o.Found && o.Local:
		notes = append(notes, lasting(fmt.Sprintf("%s %s is missing: put a manifest of it into the directory of objects ([objects] dir)", o.Kind, whole)))
	case !o.Found && o.Name != "":
		notes = append(notes, lasting(fmt.Sprintf("%s %s is missing at the API server", o.Kind, whole)))
	}
	cells := []string{cmp.Or(o.Kind, "-"), cmp.Or(o.Namespace, "-"), name, from, keys, bytes, users}
	if wide {
		cells = append(cells, cmp.Or(o.Digest, "-"))
	}
	return entry{
		key: strings.Join([]string{o.Kind, o.Namespace, name, from}, " "), name: o.Name, ref: strings.ToLower(cmp.Or(o.Kind, "document")) + "/" + whole,
		object: o, cells: cells, stable: cells, notes: notes,
	}
}
