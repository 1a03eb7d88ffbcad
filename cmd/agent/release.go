package main

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/printable"
)

func (a *app) releaseCommand() *cobra.Command {
	var namespace string
	cmd := &cobra.Command{
		Use:   "release NAMESPACE/NAME",
		Short: "Let an update pass that a filter policy holds back",
		Long: "Lets an update of a pod pass now that filter policies hold back: the newest version, once. It does\n" +
			"not release what an admit policy holds or denies; change the pod or the policy. The exit status is\n" +
			"1 if nothing waits.",
		Example: "  wardlet release default/web-edge-1\n  wardlet release -n default web-edge-1",
		RunE: func(cmd *cobra.Command, args []string) error {
			in, name, err := podArgument(namespace, args)
			if err != nil {
				return cli.WrongUsage(cmd, err)
			}
			c, err := a.Client(cmd)
			if err != nil {
				return err
			}
			var released []api.WaitingUpdate
			query := url.Values{"namespace": {in}, "name": {name}}
			if err := c.Post(cmd.Context(), "/v1/release?"+query.Encode(), &released); err != nil {
				return err
			}
			for i := range released {
				fmt.Fprintln(a.Out, printable.Line(releasedInWords(&released[i])))
			}
			return nil
		},
	}
	a.AddSocketFlag(cmd)
	cmd.Flags().StringVarP(&namespace, "namespace", "n", "", "the pod's namespace, if it is not part of the name")
	return cmd
}

// podArgument returns the one pod on the command line, named as NAMESPACE/NAME or by its name and
// the namespace flag.
func podArgument(namespace string, args []string) (in, name string, err error) {
	if len(args) != 1 {
		return "", "", fmt.Errorf("name one pod, as NAMESPACE/NAME; found %d arguments", len(args))
	}
	argument := args[0]
	kind, rest, _ := strings.Cut(argument, "/")
	isKind := kind == "pod" || kind == "update" || kind == "conflict"
	if isKind && (strings.Contains(rest, "/") || namespace != "" && namespace != kind) {
		argument = rest // the form that -o name prints, or kubectl accepts
	}
	in, name, slash := strings.Cut(argument, "/")
	if !slash {
		in, name = namespace, argument
	}
	switch {
	case in == "" && !slash:
		return "", "", fmt.Errorf("say in which namespace %q is: NAMESPACE/%s, or -n NAMESPACE", name, name)
	case in == "" || name == "" || strings.Contains(name, "/"):
		return "", "", fmt.Errorf("%q is no pod; name it as NAMESPACE/NAME", args[0])
	case slash && namespace != "" && namespace != in:
		return "", "", errors.New("the namespace of the pod and --namespace differ")
	}
	return in, name, nil
}

// releasedInWords describes the released version.
func releasedInWords(u *api.WaitingUpdate) string {
	what := "update"
	if u.Op == api.Add {
		what = "new pod"
	}
	text := fmt.Sprintf("%s/%s: %s in %s of source %s released", u.Namespace, u.Name, what, cli.FileOf(u.Document), u.Source)
	if u.Policy != "" {
		text += "; policy " + u.Policy + " held it back"
	}
	return text
}
