// Conformance-mirror is a registry that serves the images of archives, whatever registry is in
// their names:
//
//	conformance-mirror ADDRESS DIR ARCHIVE...
//
// It stores the parts of the images in DIR, and prints "ready" when it has all images.
package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: conformance-mirror ADDRESS DIR ARCHIVE...")
		os.Exit(2)
	}
	if err := serve(os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, "conformance-mirror:", err)
		os.Exit(1)
	}
}

func serve(address, dir string, archives []string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	quiet := slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
	images := registry.New(registry.WithBlobHandler(registry.NewDiskBlobHandler(dir)), registry.Logger(quiet))
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		slog.Info("asked", "method", r.Method, "url", r.URL.String())
		images.ServeHTTP(w, r)
	})}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	for _, archive := range archives {
		if err := push(archive, listener.Addr().String()); err != nil {
			return errors.Join(fmt.Errorf("%s: %w", archive, err), server.Close(), <-ended)
		}
	}
	fmt.Fprintln(os.Stdout, "ready", listener.Addr())
	return <-ended
}

// push uploads the images of an archive to a registry. The path of each image is the one in its
// name.
func push(archive, address string) error {
	manifest, err := tarball.LoadManifest(func() (io.ReadCloser, error) { return os.Open(archive) })
	if err != nil {
		return err
	}
	for _, tag := range manifest[0].RepoTags {
		from, err := name.NewTag(tag)
		if err != nil {
			return err
		}
		to, err := name.ParseReference(address+"/"+from.RepositoryStr()+":"+from.TagStr(), name.Insecure)
		if err != nil {
			return err
		}
		image, err := tarball.ImageFromPath(archive, nil)
		if err != nil {
			return err
		}
		if err := remote.Write(to, image); err != nil {
			return err
		}
	}
	return nil
}
