package policycmd

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/policy/author"
	"github.com/wardlet/wardlet/core/printable"
)

// testFlags are the flags of policy test.
type testFlags struct {
	run, output string
	verbose     bool
	author.TestOptions
}

func (a *app) policyTestCommand() *cobra.Command {
	var o testFlags
	cmd := &cobra.Command{
		Use:   "test DIR|FILE",
		Short: "Run the tests of policies, and compare their whole verdicts",
		Long: "Runs every [[test]] of the policies of a directory, or of one document, in the agent's own\n" +
			"sandbox, including those of policies that are off, or whose sha256 is missing or does not match.\n" +
			"--update, or -update, writes the result of each beside the document, to\n" +
			"tests/golden/POLICY/TEST.json: answer, code, message, warnings, annotations, explanation, patch,\n" +
			"fields read and fuel. Later runs compare all of it, fuel only for the same module. Without a\n" +
			"golden file only the answer is compared. A test has the name of its pod. The exit status is 1 if a\n" +
			"test fails, or there is none.",
		Example: "  wardlet policy test .\n" +
			"  wardlet policy test team-labels.toml --run /unlabelled -v\n" +
			"  wardlet policy test . --update",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneDraft(cmd, args, o.output); err != nil {
				return err
			}
			if o.run != "" {
				var err error
				if o.Run, err = regexp.Compile(o.run); err != nil {
					return cli.WrongUsage(cmd, fmt.Errorf("--run: %w", err))
				}
			}
			cfg, err := a.draftConfig(cmd)
			if err != nil {
				return err
			}
			return a.testPolicies(cmd, cfg, args[0], &o)
		},
	}
	cmd.Flags().BoolVar(&o.Update, "update", false, "write the golden files instead of comparing them")
	cmd.Flags().StringVar(&o.run, "run", "", "run only tests whose name, POLICY/TEST, matches the `REGEXP`")
	cmd.Flags().BoolVarP(&o.verbose, "verbose", "v", false, "also print what the policy answers and logs")
	cmd.Flags().StringVarP(&o.output, "output", "o", "", "json or yaml (default: lines to read)")
	return cmd
}

// LikeGoTest replaces -update with --update, because go test accepts a single dash. No command uses
// these letters as short flags.
func LikeGoTest(args []string) []string {
	args = slices.Clone(args)
	for i, arg := range args {
		if arg == "--" {
			break // the rest belongs to the program in the container
		}
		if arg == "-update" {
			args[i] = "--update"
		}
	}
	return args
}

// oneDraft checks that there is one directory or document, and that the output format is valid.
func oneDraft(cmd *cobra.Command, args []string, output string) error {
	var err error
	switch {
	case output != "" && !cli.IsObjectFormat(output):
		err = fmt.Errorf("unknown output %q; want json or yaml", output)
	case len(args) == 0:
		err = fmt.Errorf("%q takes a directory of policies or a policy document; found none", cmd.CommandPath())
	case len(args) > 1:
		err = fmt.Errorf("%q takes one directory or document, found also %q", cmd.CommandPath(), args[1])
	default:
		return nil
	}
	return cli.WrongUsage(cmd, err)
}

// draftConfig returns the configuration that --config names, else the default one.
func (a *app) draftConfig(cmd *cobra.Command) (*config.Config, error) {
	if !cmd.Flags().Changed("config") {
		return config.Default(), nil
	}
	return a.LoadConfig(cmd.Context())
}

// testReport is the result of all tests.
type testReport struct {
	Passed int                  `json:"passed"`
	Failed int                  `json:"failed"`
	Tests  []*author.TestResult `json:"tests"`
	// Notes have further information for the author.
	Notes []string `json:"notes,omitempty"`
}

func (a *app) testPolicies(cmd *cobra.Command, cfg *config.Config, path string, o *testFlags) error {
	r := &testReport{Tests: []*author.TestResult{}}
	tested, err := author.TestPolicies(cmd.Context(), cfg, path, o.TestOptions, func(t *author.TestResult) {
		r.Tests = append(r.Tests, t)
		if t.Passed {
			r.Passed++
		} else {
			r.Failed++
		}
		if o.output == "" {
			a.printTest(t, o.verbose)
		}
	})
	if err != nil {
		return err
	}
	for _, document := range tested.Untested {
		r.Notes = append(r.Notes, document+" has no [[test]]: add one with a pod and what to expect")
	}
	for _, document := range tested.Unpinned {
		r.Notes = append(r.Notes, document+": sha256 is not that of the module; write it before an agent reads the policy")
	}
	for _, file := range tested.Strays {
		r.Notes = append(r.Notes, file+": no test has this golden file; remove it, or give the test's pod its name back")
	}
	r.Notes = append(r.Notes, r.uncompared()...)
	if o.output != "" {
		if err := cli.PrintObject(a.Out, o.output, r); err != nil {
			return err
		}
	} else {
		for _, note := range r.Notes {
			fmt.Fprintln(a.Out, "note: "+printable.Line(note))
		}
	}
	return r.err(o)
}

// uncompared names the tests without a golden file whose policy has other tests with one.
func (r *testReport) uncompared() (notes []string) {
	compared := map[string]bool{}
	policy := func(t *author.TestResult) string { name, _, _ := strings.Cut(t.Name, "/"); return name }
	for _, t := range r.Tests {
		compared[policy(t)] = compared[policy(t)] || t.Golden == "same" || t.Golden == "different"
	}
	for _, t := range r.Tests {
		if t.Golden == "none" && compared[policy(t)] {
			notes = append(notes, t.Name+" has no golden file, others of the policy have; --update writes it")
		}
	}
	return notes
}

// err returns an error if a test failed or none ran.
func (r *testReport) err(o *testFlags) error {
	switch {
	case r.Failed > 0:
		return fmt.Errorf("%d of %s failed", r.Failed, cli.Plural(len(r.Tests), "test", "tests"))
	case len(r.Tests) == 0 && o.run != "":
		return fmt.Errorf("no test was run: none has a name, POLICY/TEST, that matches %q", o.run)
	case len(r.Tests) == 0:
		return errors.New("no test was run: there is no [[test]]")
	}
	return nil
}

func (a *app) printTest(t *author.TestResult, verbose bool) {
	line := "FAIL   " + t.Name
	if t.Passed {
		line = "ok     " + t.Name
	}
	if t.Verdict != nil && t.Passed {
		line += "   " + t.Verdict.Answer
	}
	if t.Golden == "written" {
		line += "   (golden file written)"
	}
	fmt.Fprintln(a.Out, printable.Line(line))
	for _, fault := range t.Faults {
		for text := range strings.Lines(fault) {
			fmt.Fprintln(a.Out, "       "+printable.Line(strings.TrimSuffix(text, "\n")))
		}
	}
	if verbose {
		a.printStatement(t.Verdict, t.Log, "       ")
	}
}
