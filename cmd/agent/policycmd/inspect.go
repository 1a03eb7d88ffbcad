package policycmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/policy/author"
	"github.com/wardlet/wardlet/core/printable"
)

// report describes what the sandbox finds in a module.
type report = author.ModuleReport

func (a *app) policyInspectCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "inspect FILE",
		Short: "Show what a plugin's module contains, and why it would be refused",
		Long: "Reads a WebAssembly module, from standard input if FILE is -, and prints what the agent finds in\n" +
			"it before compiling it, and every reason to refuse it: for a policy with default limits, whichever\n" +
			"hooks it names. It may be as large as the configuration of --config says, or the default. Nothing\n" +
			"is compiled or run; only the compiler finds instructions whose types do not match. The exit status\n" +
			"is 1 if the module would be refused.",
		Example: "  wardlet policy inspect allowed-images.wasm\n" +
			"  wardlet policy inspect allowed-images.wasm -o json\n" +
			"  wardlet policy inspect large.wasm --config agent.toml",
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			if output != "" && !cli.IsObjectFormat(output) {
				return cli.WrongUsage(cmd, fmt.Errorf("unknown output %q; want json or yaml", output))
			}
			cfg := config.Default()
			if cmd.Flags().Changed("config") {
				var err error
				if cfg, err = a.LoadConfig(cmd.Context()); err != nil {
					return err
				}
			}
			binary, err := readModule(cmd.Context(), args[0], cmd.InOrStdin(), cfg.Policy.ModuleBytes)
			if err != nil {
				return err
			}
			r := author.InspectModule(binary, &cfg.Policy)
			if output == "" {
				a.printReport(r)
			} else if err := cli.PrintObject(a.Out, output, r); err != nil {
				return err
			}
			return refusedFor(r)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "json or yaml (default: lines to read)")
	return cmd
}

// oneFile checks that there is one argument.
func oneFile(cmd *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return cli.WrongUsage(cmd, fmt.Errorf("%q takes a FILE, or - for standard input; found none", cmd.CommandPath()))
	case 1:
		return nil
	}
	return cli.WrongUsage(cmd, fmt.Errorf("%q takes one FILE, found also %q", cmd.CommandPath(), args[1]))
}

// refusedFor returns an error with the number of reasons to refuse a module, nil for none.
func refusedFor(r *report) error {
	n := len(r.Refused)
	switch {
	case n == 0:
		return nil
	case r.MoreRefused:
		return fmt.Errorf("the module would be refused for %s or more", cli.Plural(n, "reason", "reasons"))
	}
	return fmt.Errorf("the module would be refused for %s", cli.Plural(n, "reason", "reasons"))
}

// readModule reads a module. It returns an error if the file does not begin like a module or has
// more than that many bytes.
func readModule(ctx context.Context, name string, in io.Reader, most int) ([]byte, error) {
	return cli.ReadUntil(ctx, name, func() ([]byte, error) { return readBounded(name, in, most) })
}

func readBounded(name string, in io.Reader, most int) ([]byte, error) {
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	binary, err := io.ReadAll(io.LimitReader(in, int64(most)+1))
	switch {
	case err != nil:
		return nil, err
	case !strings.HasPrefix(string(binary[:min(len(binary), 4)]), "\x00asm"):
		return nil, fmt.Errorf("%s is no WebAssembly module: it does not begin with \\0asm", cli.FileName(name))
	case len(binary) > most:
		return nil, fmt.Errorf("%s is too large: a module may have at most %d bytes; name a configuration with a greater policy.module_bytes as --config", cli.FileName(name), most)
	}
	return binary, nil
}

// Limits on the names in output for people.
const (
	maxListed = 30
	maxName   = 64
)

// printReport prints a report as two columns.
func (a *app) printReport(r *report) {
	rows := [][]string{{"Size:", cli.Plural(r.Size, "byte", "bytes")}, {"SHA-256:", r.SHA256}}
	if r.Contents != nil {
		rows = append(rows, contentRows(r.Contents)...)
	}
	var reasons []string
	for i := range r.Refused[:min(len(r.Refused), maxListed)] {
		reasons = append(reasons, printable.Line(r.Refused[i].Error()))
	}
	switch more := len(r.Refused) - maxListed; {
	case len(reasons) == 0:
		reasons = []string{"no"}
	case more > 0:
		reasons = append(reasons, fmt.Sprintf("and %d more, which -o json shows", more))
	}
	if r.MoreRefused {
		reasons = append(reasons, "There may be more reasons: not all of the module was read.")
	}
	t := cli.Table{W: a.Out}
	t.Print(append(rows, lines("Refused:", reasons)...)...)
}

func contentRows(c *author.ModuleContents) [][]string {
	rows := [][]string{{"ABI:", listed(c.Markers)}, {"Hooks:", listed(c.Hooks)}}
	rows = append(rows, lines("Imports:", imports(c.Imports))...)
	exports := make([]string, len(c.Exports))
	for i, e := range c.Exports {
		exports[i] = e.Name + ofKind(e.Kind)
	}
	text := listed(exports)
	if c.OtherExports > 0 {
		text += fmt.Sprintf("; %d that the host does not use", c.OtherExports)
	}
	code := cli.Plural(c.CodeBytes, "byte", "bytes")
	if c.MeteredBytes > 0 {
		code += fmt.Sprintf(", metered %d", c.MeteredBytes)
	}
	return append(rows,
		[]string{"Exports:", text},
		[]string{"Memory:", memory(c.Memory)},
		[]string{"Tables:", fmt.Sprintf("%d, with ", c.Tables) + cli.Plural(int(c.TableEntries), "entry", "entries")},
		[]string{"Elements:", fmt.Sprintf("%d, in %s", c.Elements, cli.Plural(c.ElementSegments, "segment", "segments"))},
		[]string{"Data:", cli.Plural(c.DataBytes, "byte", "bytes") + ", in " + cli.Plural(c.DataSegments, "segment", "segments")},
		[]string{"Globals:", fmt.Sprintf("%d, of which %d mutable", c.Globals, c.MutableGlobals)},
		[]string{"Code:", code},
		[]string{"Functions:", fmt.Sprintf("%d, the largest of %s", c.Functions, cli.Plural(c.LargestFunction, "byte", "bytes"))},
		[]string{"Loops:", strconv.Itoa(c.Loops)},
		[]string{"Deepest nesting:", cli.Plural(c.DeepestNesting, "block", "blocks")},
		[]string{"Most locals:", fmt.Sprintf("%d, with parameters", c.MostLocals)},
		[]string{"Highest stack:", cli.Plural(c.HighestStack, "operand", "operands")},
		[]string{"Floats:", yesNo(c.Floats)},
		[]string{"Vectors:", yesNo(c.Vectors)},
	)
}

// imports returns a line for each module with imports.
func imports(all []author.ModuleImport) []string {
	var modules []string
	names := map[string][]string{}
	for _, i := range all {
		if names[i.Module] == nil {
			modules = append(modules, i.Module)
		}
		names[i.Module] = append(names[i.Module], i.Name+ofKind(i.Kind))
	}
	var text []string
	for _, m := range modules[:min(len(modules), maxListed)] {
		text = append(text, shortName(m)+": "+listed(names[m]))
	}
	if more := len(modules) - maxListed; more > 0 {
		text = append(text, fmt.Sprintf("and %d more modules", more))
	}
	return text
}

// ofKind returns the suffix for the name of an import or export that is not a function.
func ofKind(kind string) string {
	if kind == "function" {
		return ""
	}
	return " (" + kind + ")"
}

func memory(m *author.ModuleMemory) string {
	if m == nil {
		return "none"
	}
	most := "what the policy allows"
	if m.MostPages != nil {
		most = strconv.FormatUint(*m.MostPages, 10)
	}
	return cli.Plural(int(m.Pages), "page", "pages") + " of 64 KiB at the beginning, at most " + most
}

// listed joins names, the first maxListed of them.
func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	some := make([]string, 0, maxListed+1)
	for _, name := range names[:min(len(names), maxListed)] {
		some = append(some, shortName(name))
	}
	if more := len(names) - maxListed; more > 0 {
		some = append(some, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(some, ", ")
}

// shortName shortens a name from a module to fit into a line.
func shortName(name string) string {
	if name == "" {
		return `""`
	}
	if r := []rune(name); len(r) > maxName {
		name = string(r[:maxName]) + "…"
	}
	return printable.Line(name)
}

// lines returns rows of which only the first has the label.
func lines(label string, texts []string) [][]string {
	if len(texts) == 0 {
		texts = []string{"none"}
	}
	rows := make([][]string, len(texts))
	for i, text := range texts {
		rows[i] = []string{"", text}
	}
	rows[0][0] = label
	return rows
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
