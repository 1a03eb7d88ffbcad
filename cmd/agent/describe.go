package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/spf13/cobra"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/describe"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/printable"
	"github.com/wardlet/wardlet/core/server/client"
)

func (a *app) describeCommand() *cobra.Command {
	var o describeFlags
	cmd := &cobra.Command{
		Use:   "describe",
		Short: "Describe something as kubectl does",
		Args: func(cmd *cobra.Command, args []string) error {
			if namesPod(args) {
				return nil
			}
			return cli.KnownCommand(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if namesPod(args) {
				return a.describePods(cmd, args, &o)
			}
			return cli.WrongUsage(cmd, errors.New("say what to describe: pod NAMESPACE/NAME"))
		},
	}
	a.AddSocketFlag(cmd)
	o.add(cmd)
	cmd.AddCommand(a.describePodCommand())
	return cmd
}

// describeFlags are the flags of describe pod.
type describeFlags struct {
	namespace           string
	all                 bool
	showEnv, showEvents bool
}

func (o *describeFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.namespace, "namespace", "n", "", "the pods' namespace, if it is not part of the name")
	cmd.Flags().BoolVarP(&o.all, "all-namespaces", "A", false, "pods of all namespaces, as without --namespace")
	cmd.Flags().BoolVar(&o.showEnv, "show-env", false, "show the values of environment variables")
	cmd.Flags().BoolVar(&o.showEvents, "show-events", true, "show the events about the pods")
}

func (a *app) describePodCommand() *cobra.Command {
	var o describeFlags
	cmd := &cobra.Command{
		Use:     "pod [NAMESPACE/NAME...]",
		Aliases: []string{"pods", "po"},
		Short:   "Describe pods of this node as kubectl does",
		Long: "Prints what kubectl describe pod prints and, below \"Wardlet\", what policies and sources say about\n" +
			"the pod; explain pod shows that in full. Without a name it describes all pods. A pod of a manifest\n" +
			"can be named as in the manifest, too. Events are those since the agent started. Values of\n" +
			"environment variables are left out unless --show-env asks for them.",
		Example: "  wardlet describe pod default/web\n  wardlet describe pod -n default web-edge-1\n  wardlet describe pod/default/web\n  wardlet describe pods -n kube-system",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.describePods(cmd, args, &o) },
	}
	o.add(cmd)
	return cmd
}

// describePods prints the pods that arguments name, or all.
func (a *app) describePods(cmd *cobra.Command, args []string, o *describeFlags) error {
	if o.all {
		o.namespace = ""
	}
	var names []string
	for _, arg := range args {
		namespace, name, err := podArgument(o.namespace, []string{arg})
		if err != nil {
			return cli.WrongUsage(cmd, err)
		}
		names = append(names, "/"+url.PathEscape(namespace)+"/"+url.PathEscape(name))
	}
	c, err := a.Client(cmd)
	if err != nil {
		return err
	}
	pods, err := o.find(cmd.Context(), c, names)
	if err != nil {
		return err
	}
	if len(pods) == 0 {
		fmt.Fprintln(a.ErrOut, "No pods found.")
	}
	for i := range pods {
		if i > 0 {
			fmt.Fprint(a.Out, "\n\n")
		}
		if err := a.describePod(cmd.Context(), c, &pods[i], o.showEvents); err != nil {
			return err
		}
	}
	return nil
}

// find reads the pods of the names, or else all of the namespace in the order of get pods.
func (o *describeFlags) find(ctx context.Context, c *client.Client, names []string) ([]v1.Pod, error) {
	query := ""
	if o.showEnv {
		query = "?env=show"
	}
	if len(names) == 0 {
		var list v1.PodList
		err := c.Get(ctx, "/v1/pods"+query, &list)
		cli.SortPods(list.Items)
		return slices.DeleteFunc(list.Items, func(p v1.Pod) bool { return o.namespace != "" && p.Namespace != o.namespace }), err
	}
	pods := make([]v1.Pod, len(names))
	for i, name := range names {
		if err := c.Get(ctx, "/v1/pods"+name+query, &pods[i]); err != nil {
			return nil, err
		}
	}
	return pods, nil
}

func (a *app) describePod(ctx context.Context, c *client.Client, p *v1.Pod, showEvents bool) error {
	var story api.Timeline
	query := url.Values{"namespace": {p.Namespace}, "name": {p.Name}}
	if err := c.Get(ctx, "/v1/explain?"+query.Encode(), &story); err != nil {
		return err
	}
	return describe.Pod(a.Out, p, &describe.Context{
		Facts: podFacts(p, &story), HideEvents: !showEvents, Now: a.Now(),
		Events: slices.DeleteFunc(story.Events, func(e api.Event) bool { return e.UID != p.UID }),
	})
}

// podFacts returns the lines below "Wardlet": the newest moment of each part of the story that the
// description does not show, the current state except the status, and the containers that are not
// ready.
func podFacts(p *v1.Pod, story *api.Timeline) []describe.Fact {
	facts := []describe.Fact{{Label: "Source", Text: cmp.Or(p.Annotations[pod.AnnotationSource], "<none>")}}
	newest := map[string]string{}
	for i := range story.Moments {
		newest[story.Moments[i].Part] = printable.Joined(story.Moments[i].Text)
	}
	for _, part := range []struct{ part, label string }{
		{api.PartSource, "Document"}, {api.PartConflict, "Conflict"}, {api.PartMerge, "Merge"}, {api.PartFilter, "Filter"}, {api.PartAdmit, "Admission"},
	} {
		if text := newest[part.part]; text != "" {
			facts = append(facts, describe.Fact{Label: part.label, Text: text})
		}
	}
	for i := range story.Now {
		if now := &story.Now[i]; now.Part != api.PartStatus {
			facts = append(facts, describe.Fact{Label: "Now", Text: printable.Joined(now.Text)})
		}
	}
	for _, why := range describe.NotReady(p, story.Events) {
		facts = append(facts, describe.Fact{Label: "Not ready", Text: why})
	}
	return facts
}
