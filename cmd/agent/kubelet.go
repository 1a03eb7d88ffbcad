package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/agent"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/kubeletconfig"
	"github.com/wardlet/wardlet/core/printable"
)

// kubeletFlags are the flags of commands that read the configuration of a kubelet.
type kubeletFlags struct {
	config, configDir string
	// flags are the other flags of the kubelet, in one text.
	flags string
	// args replace all of them: the whole command line of a kubelet.
	args []string
	// oomScore is the oom_score_adj of the kubelet that was read.
	oomScore int
}

// add adds the flags to a command.
func (k *kubeletFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&k.config, "kubelet-config", "", "the configuration of a kubelet, as its --config")
	cmd.Flags().StringVar(&k.configDir, "kubelet-config-dir", "", "a directory with drop-in files *.conf, as a kubelet's --config-dir")
	cmd.Flags().StringVar(&k.flags, "kubelet-flags", "", `the other flags of a kubelet, such as "--kubeconfig=/etc/kubernetes/kubelet.conf"`)
}

// given reports whether there is a configuration of a kubelet.
func (k *kubeletFlags) given() bool {
	return k.config != "" || k.configDir != "" || k.flags != "" || k.args != nil
}

// read returns the configuration of the kubelet. kubeconfig is the one of a kubelet without --kubeconfig,
// empty for none.
func (k *kubeletFlags) read(kubeconfig string) (*kubeletconfig.Configuration, error) {
	args := k.args
	if args == nil {
		args = append(args, strings.Fields(k.flags)...)
		for _, f := range []struct{ name, value string }{{"--config=", k.config}, {"--config-dir=", k.configDir}} {
			if f.value != "" {
				args = append(args, f.name+f.value)
			}
		}
	}
	command, err := kubeletconfig.ParseCommand(args)
	if err != nil {
		return nil, err
	}
	k.config = command.Config
	command.Kubeconfig = cmp.Or(command.Kubeconfig, kubeconfig)
	return kubeletconfig.Read(command)
}

// base returns the configuration of the kubelet in the form of an agent.toml.
func (k *kubeletFlags) base(c *kubeletconfig.Configuration) (*config.Base, error) {
	text, err := c.TOML()
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(filepath.Dir(k.config))
	if err != nil {
		return nil, err
	}
	return &config.Base{Name: "the agent.toml of " + k.origin(), Text: text, Dir: dir, Locate: c.Locate}, nil
}

// origin returns the name of the kubelet's configuration.
func (k *kubeletFlags) origin() string { return cmp.Or(k.config, "a kubelet's flags") }

// load returns the configuration of the kubelet with the keys that agent.toml adds, and its warnings.
// Without a --config, agent.toml need not exist. Without a configuration of a kubelet it is
// LoadConfig.
func (k *kubeletFlags) load(ctx context.Context, a *app, cmd *cobra.Command) (*config.Config, []error, error) {
	if !k.given() {
		cfg, err := a.LoadConfig(ctx)
		return cfg, nil, err
	}
	var warnings []error
	cfg, err := cli.ReadUntil(ctx, a.ConfigPath, func() (*config.Config, error) {
		inCluster := false
		over := k.over(a, cmd)
		cfg, err := config.LoadOver(func(kubeconfig string) (*config.Base, error) {
			c, err := k.read(kubeconfig)
			if err != nil {
				return nil, fmt.Errorf("the kubelet's configuration cannot be used:\n%w", err)
			}
			warnings = nil
			for _, w := range c.Warnings {
				warnings = append(warnings, w)
			}
			inCluster = c.Table("cluster") != nil
			k.oomScore = c.OOMScore
			return k.base(c)
		}, over)
		if err == nil && inCluster && cfg.Cluster.Kubeconfig == "" {
			return nil, fmt.Errorf("%s: cluster.kubeconfig is empty, and the kubelet has one: leave out the key, or leave out the kubelet's --kubeconfig", over)
		}
		return cfg, err
	})
	return cfg, warnings, err
}

// kubeletCommand runs the agent with the command line of a kubelet. With the name kubelet, the program
// is this command, so that what starts a kubelet starts the agent.
func (a *app) kubeletCommand() *cobra.Command {
	return &cobra.Command{
		Use: kubeletName, Hidden: true, DisableFlagParsing: true,
		Short: "Run the agent with the command line of a kubelet",
		RunE: func(cmd *cobra.Command, args []string) error {
			a.ConfigPath = config.DefaultPath // a kubelet's --config is another file
			command, err := kubeletconfig.ParseCommand(args)
			switch {
			case err != nil:
				return err
			case command.Help:
				fmt.Fprintln(a.Out, "Runs wardlet with the command line of a kubelet. It takes the flags of a kubelet;\nwardlet check --kubelet-flags \"...\" says which of them have no effect here.\nWith the name wardlet, the program has other commands: wardlet --help.")
				return nil
			case command.Version:
				fmt.Fprintln(a.Out, "Kubernetes", agent.KubeletVersion(version))
				return nil
			}
			return a.run(cmd, &kubeletFlags{args: append([]string{}, args...)})
		},
	}
}

// kubeletName is the name under which the program takes the command line of a kubelet.
const kubeletName = "kubelet"

// over returns the agent.toml that adds keys, empty for none.
func (k *kubeletFlags) over(a *app, cmd *cobra.Command) string {
	if flag := cmd.Flag("config"); flag != nil && flag.Changed {
		return a.ConfigPath
	}
	if _, err := os.Stat(a.ConfigPath); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return a.ConfigPath
}

// followed returns the file whose changes the agent applies while it runs.
func (k *kubeletFlags) followed(a *app, cmd *cobra.Command) string {
	if path := k.over(a, cmd); !k.given() || path != "" || k.config == "" {
		return a.ConfigPath
	}
	return k.config
}

// migrateCommand writes the agent.toml that says what a kubelet's configuration says.
func (a *app) migrateCommand() *cobra.Command {
	kubelet := &kubeletFlags{}
	var kubeconfig, to string
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Write the agent.toml that says what a kubelet's configuration says",
		Long: "Reads the configuration of a kubelet (KubeletConfiguration v1beta1, a kubelet's --config and\n" +
			"--config-dir, and its flags) and prints the agent.toml that says the same. What the agent does not\n" +
			"honour is named with file and line: as warnings, or as errors if pods would be less safe or would\n" +
			"run differently; after an error nothing is written, and the exit status is 1. The agent then\n" +
			"continues to run the pods of that kubelet.",
		Example: "  wardlet migrate --kubelet-config /var/lib/kubelet/config.yaml \\\n    --kubeconfig /etc/kubernetes/kubelet.conf -o /etc/wardlet/agent.toml",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !kubelet.given() {
				return cli.WrongUsage(cmd, errors.New("name the kubelet's configuration with --kubelet-config"))
			}
			if kubeconfig != "" {
				kubelet.flags += " --kubeconfig=" + kubeconfig
			}
			c, err := kubelet.read("")
			if err != nil {
				return err
			}
			made, err := kubelet.base(c)
			if err != nil {
				return err
			}
			if _, err := config.LoadOver(func(string) (*config.Base, error) { return made, nil }, ""); err != nil {
				return err
			}
			for _, w := range c.Warnings {
				fmt.Fprintln(a.ErrOut, "warning:", w.Error())
			}
			if c.OOMScore != kubeletconfig.DefaultOOMScore {
				fmt.Fprintf(a.ErrOut, "warning: oomScoreAdj is %d: write OOMScoreAdjust=%d into the agent's unit file\n", c.OOMScore, c.OOMScore)
			}
			write := func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "# Made by wardlet migrate from %s.\n\n%s", printable.Line(kubelet.origin()), made.Text)
				return err
			}
			if to == "" {
				return write(a.Out)
			}
			return cli.WriteNew(to, write)
		},
	}
	kubelet.add(cmd)
	cmd.Flags().StringVar(&kubeconfig, "kubeconfig", "", "the kubelet's kubeconfig; without one, the node is in no cluster")
	cmd.Flags().StringVarP(&to, "output", "o", "", "write to this file, which must not exist yet, instead of standard output")
	return cmd
}
