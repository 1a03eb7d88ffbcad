package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
)

func main() {
	root := flag.String("root", ".", "the checkout")
	out := flag.String("out", "build/policies", "the policy directory to write")
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *root, *out, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "plugins:", err)
		os.Exit(1)
	}
}

// run builds everything before it writes anything to out.
func run(ctx context.Context, root, out string, log io.Writer) error {
	names, err := plugins(root)
	if err != nil {
		return err
	}
	modules := map[string][]byte{}
	for _, name := range names {
		module, err := build(ctx, root, name)
		if err != nil {
			return err
		}
		modules[name+".wasm"] = module
	}
	documents, err := documents(root, modules)
	if err != nil {
		return err
	}
	tests, err := tests(root)
	if err != nil {
		return err
	}
	// Files are written before the documents that name them.
	written, err := publish(out, tests, modules, documents)
	fmt.Fprintf(log, "%s: %s; files written: %d of %d\n", out, strings.Join(names, ", "), len(written),
		len(tests)+len(modules)+len(documents))
	return err
}
