package policycmd

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/policy/replay"
	"github.com/wardlet/wardlet/core/printable"
)

// recordsFlags are the flags that name the recorded decisions.
type recordsFlags struct{ state, bundle string }

func (f *recordsFlags) add(cmd *cobra.Command) {
	f.addState(cmd)
	cmd.Flags().StringVar(&f.bundle, "bundle", "", "a file that \"wardlet policy export\" wrote, instead of a state directory")
}

func (f *recordsFlags) addState(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.state, "state", "", "the state directory (default: paths.state_root of the configuration)")
}

// recorded are recorded decisions. The caller must call Close.
type recorded struct {
	*replay.RecordFiles
	io.Closer

	// name is the name of the file or directory.
	name string
	cfg  *config.Config
}

// open opens the records. It uses the configuration that is named or, if the records are named
// instead, the default one.
func (f *recordsFlags) open(a *app, cmd *cobra.Command) (*recorded, error) {
	if f.state != "" && f.bundle != "" {
		return nil, cli.WrongUsage(cmd, errors.New("say --state or --bundle, not both"))
	}
	cfg := config.Default()
	if f.state == "" && f.bundle == "" || cmd.Flags().Changed("config") {
		var err error
		if cfg, err = a.LoadConfig(cmd.Context()); err != nil {
			return nil, err
		}
	}
	if f.bundle == "" {
		dir := f.state
		if dir == "" {
			dir = cfg.Paths.StateRoot
		}
		return &recorded{replay.StateFiles(dir), io.NopCloser(nil), dir, cfg}, nil
	}
	archive, err := zip.OpenReader(f.bundle)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; a bundle is what \"wardlet policy export\" wrote", f.bundle, err)
	}
	return &recorded{replay.BundleFiles(archive), archive, f.bundle, cfg}, nil
}

// printDamaged prints the places where records are damaged.
func (a *app) printDamaged(faults []string) {
	for _, fault := range faults {
		fmt.Fprintln(a.Out, "damaged: "+printable.Line(fault))
	}
}

// faultList collects phrases that describe faults.
type faultList []string

func (l *faultList) add(n int, one, many string) {
	if n > 0 {
		*l = append(*l, cli.Plural(n, one, many))
	}
}

// damaged adds the number of damaged places in the records.
func (l *faultList) damaged(places []string) {
	l.add(len(places), "place of the records is damaged", "places of the records are damaged")
}

// missing adds the decisions that were named and are not on record.
func (l *faultList) missing(ids []string) {
	before := len(*l)
	l.add(len(ids), "decision that was named is not on record", "decisions that were named are not on record")
	if len(*l) > before {
		(*l)[before] += " (" + printable.Line(strings.Join(ids, ", ")) + ")"
	}
}

// noRecord is the message if there was nothing to do.
const noRecord = "no decision is on record"

// notFound returns the IDs that were not found, each once and in order.
func notFound(ids []string, found map[string]bool) []string {
	missing := []string{}
	for _, id := range ids {
		if !found[id] && !slices.Contains(missing, id) {
			missing = append(missing, id)
		}
	}
	return missing
}

// err returns one error with all faults, nil for none.
func (l *faultList) err() error {
	if len(*l) == 0 {
		return nil
	}
	return errors.New(strings.Join(*l, ", "))
}

// wantsObject refuses an output that is neither empty, json nor yaml.
func wantsObject(cmd *cobra.Command, output string) error {
	if output == "" || cli.IsObjectFormat(output) {
		return nil
	}
	return cli.WrongUsage(cmd, fmt.Errorf("unknown output %q; want json or yaml", output))
}
