package privateruntime

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"

	"google.golang.org/grpc"
	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// importArchive loads the images of a docker archive under the names in it.
func importArchive(ctx context.Context, i instance, ctr, file string) error {
	command := exec.CommandContext(ctx, ctr, "--address", i.socket(), "--namespace", "k8s.io",
		"images", "import", "--local", "--snapshotter", i.Snapshotter, file)
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	if err := command.Run(); err != nil {
		return fmt.Errorf("import %s: %w: %s", file, err, bytes.TrimSpace(output.Bytes()))
	}
	return nil
}

// importArchives imports them all, one goroutine each, and waits until CRI lists every name: it learns of imports by events.
func importArchives(ctx context.Context, i instance, ctr string, archives []archive, connection *grpc.ClientConn) error {
	failed := make([]error, len(archives))
	var imports sync.WaitGroup
	for at, archive := range archives {
		imports.Go(func() { failed[at] = importArchive(ctx, i, ctr, archive.File) })
	}
	imports.Wait()
	if err := errors.Join(failed...); err != nil {
		return err
	}
	client := criapi.NewImageServiceClient(connection)
	return waitUntil(ctx, func() error {
		for _, archive := range archives {
			for _, name := range archive.Names {
				answer, err := client.ImageStatus(ctx, &criapi.ImageStatusRequest{Image: &criapi.ImageSpec{Image: name}})
				if err != nil {
					return fmt.Errorf("look for image %s: %w", name, err)
				}
				if answer.GetImage() == nil {
					return fmt.Errorf("image %s was imported, but CRI does not list it", name)
				}
			}
		}
		return nil
	})
}
