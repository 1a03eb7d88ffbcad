package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/server/client"
)

func (a *app) logsCommand() *cobra.Command {
	var o logsFlags
	cmd := &cobra.Command{
		Use:   "logs NAMESPACE/POD [CONTAINER]",
		Short: "Print the log of a container",
		Long: "Prints the log of a container of a pod: of the running one, or else of the last one that ran. A\n" +
			"pod of a manifest can be named as in the manifest, too. A pipe or file gets the log unchanged; on\n" +
			"a terminal control characters are shown as escapes. -c is the container, as with kubectl: use\n" +
			"--config for another configuration.",
		Example: "  wardlet logs default/web\n  wardlet logs -n default web -c main -f --tail 20\n  wardlet logs default/web --previous\n" +
			"  wardlet logs default/web --since 5m --timestamps | less -R\n" +
			"  wardlet logs default/web --all-containers --prefix -f",
		RunE: func(cmd *cobra.Command, args []string) error { return a.logs(cmd, args, &o) },
	}
	o.add(a, cmd)
	f := cmd.Flags()
	f.BoolVarP(&o.follow, "follow", "f", false, "follow the log until the container ends")
	f.BoolVar(&o.all, "all-containers", false, "the logs of all containers of the pod, one after the other or, with -f, as they come")
	f.BoolVar(&o.prefix, "prefix", false, "put the pod and the container before each line")
	f.BoolVarP(&o.previous, "previous", "p", false, "the log of the container that ran before, if there was one")
	f.BoolVar(&o.timestamps, "timestamps", false, "put the time before each line")
	f.Int64Var(&o.tail, "tail", -1, "how many lines from the end; -1 for all")
	f.Int64Var(&o.limit, "limit-bytes", 0, "how many bytes at most; 0 for all")
	f.DurationVar(&o.since, "since", 0, "only what was written in the last 5s, 2m or 3h")
	f.StringVar(&o.sinceTime, "since-time", "", "only what was written from this time on, as 2026-01-02T15:04:05Z")
	return cmd
}

// logsFlags are the flags of logs.
type logsFlags struct {
	containerFlags

	follow, previous, timestamps bool
	all, prefix                  bool
	tail, limit                  int64
	since                        time.Duration
	sinceTime                    string
}

// query returns the parameters of the request to the agent, or an error if the flags are invalid.
func (o *logsFlags) query(cmd *cobra.Command) (url.Values, error) {
	query := url.Values{}
	for name, on := range map[string]bool{"follow": o.follow, "previous": o.previous, "timestamps": o.timestamps} {
		if on {
			query.Set(name, "true")
		}
	}
	if o.tail < -1 {
		return nil, fmt.Errorf("--tail is %d; want a number of lines, or -1 for all", o.tail)
	}
	if o.tail >= 0 {
		query.Set("tailLines", strconv.FormatInt(o.tail, 10))
	}
	if o.limit < 0 {
		return nil, fmt.Errorf("--limit-bytes is %d; want a number of bytes, or 0 for all", o.limit)
	}
	if o.limit > 0 {
		query.Set("limitBytes", strconv.FormatInt(o.limit, 10))
	}
	switch hasSince := cmd.Flags().Changed("since"); {
	case hasSince && o.sinceTime != "":
		return nil, errors.New("--since and --since-time exclude each other")
	case o.since < 0 || hasSince && o.since == 0:
		return nil, fmt.Errorf("--since is %s; want more than 0s", o.since)
	case hasSince:
		query.Set("sinceSeconds", strconv.FormatInt(int64((o.since+time.Second-1)/time.Second), 10))
	case o.sinceTime != "":
		if _, err := time.Parse(time.RFC3339, o.sinceTime); err != nil {
			return nil, fmt.Errorf("--since-time is %q; want a time as 2026-01-02T15:04:05Z", o.sinceTime)
		}
		query.Set("sinceTime", o.sinceTime)
	}
	return query, nil
}

func (a *app) logs(cmd *cobra.Command, args []string, o *logsFlags) error {
	query, err := o.query(cmd)
	if err == nil && len(args) == 2 {
		if o.container != "" && o.container != args[1] {
			err = fmt.Errorf("the container is named twice, as %q and as %q", args[1], o.container)
		}
		o.container, args = cmp.Or(o.container, args[1]), args[:1]
	}
	if err == nil && o.all && o.container != "" {
		err = errors.New("--all-containers and the name of a container exclude each other")
	}
	var in, name string
	if err == nil {
		in, name, err = podArgument(o.namespace, args)
	}
	if err != nil {
		return cli.WrongUsage(cmd, err)
	}
	c, err := a.Client(cmd)
	if err != nil {
		return err
	}
	p, err := findPod(cmd.Context(), c, in, name)
	if err != nil {
		return err
	}
	of := []*container{}
	if o.all {
		for spec := range pod.Containers(p) {
			of = append(of, containerOf(p, spec.Name))
		}
	} else {
		of = append(of, o.choose(a, p))
	}
	out, flush := containerOut(a.RawOut)
	defer flush()
	err = o.copyLogs(cmd.Context(), c, of, query, out)
	if cmd.Context().Err() != nil && o.follow {
		return nil // an interrupt ends --follow without an error
	}
	return err
}

// copyLogs writes the logs of containers: one after the other, or all at once with --follow. If one
// log cannot be read, it still reads the others.
func (o *logsFlags) copyLogs(ctx context.Context, c *client.Client, all []*container, query url.Values, to io.Writer) error {
	errs := make([]error, len(all))
	var mu sync.Mutex
	var running sync.WaitGroup
	for i, of := range all {
		out, end := to, func() {}
		if o.prefix || len(all) > 1 {
			lines := &lineWriter{to: to, mu: &mu}
			if o.prefix {
				lines.prefix = fmt.Sprintf("[pod/%s/%s] ", of.pod, of.name)
			}
			out, end = lines, lines.flush
		}
		one := func() {
			errs[i] = of.explained(c.Copy(ctx, of.path("logs", query), out))
			end()
		}
		if o.follow {
			running.Go(one)
		} else {
			one()
		}
	}
	running.Wait()
	return errors.Join(errs...)
}
