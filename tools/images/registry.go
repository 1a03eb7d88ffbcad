package main

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// registryOptions are the address, the directory of images, the credentials and the output of the
// registry.
type registryOptions struct {
	addr, images   string
	user, password string
	out            io.Writer
}

// served returns the repositories and tags that the registry offers. Their images have labels of
// their own, and so no image ID of an imported image: removing a pulled image never removes an
// imported one.
func served() []string { return []string{"pull/web:1", "pull/web:2", "pull/test:1"} }

// serveRegistry prints the registry's address as its first line and serves until ctx ends.
func serveRegistry(ctx context.Context, options registryOptions) error {
	base, err := testImage(options.images)
	if err != nil {
		return err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", options.addr)
	if err != nil {
		return fmt.Errorf("listen for the registry: %w", err)
	}
	handler := registry.New(registry.Logger(slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)))
	server := &http.Server{Handler: demandLogin(handler, options), ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()

	err = preload(ctx, listener.Addr().String(), base, options)
	if err == nil {
		fmt.Fprintln(options.out, listener.Addr())
		select {
		case <-ctx.Done():
		case err = <-served:
			return fmt.Errorf("serve the registry: %w", err)
		}
	}
	return errors.Join(err, closeServer(server, served))
}

func closeServer(server *http.Server, served <-chan error) error {
	err := server.Close()
	if stopped := <-served; !errors.Is(stopped, http.ErrServerClosed) {
		err = errors.Join(err, stopped)
	}
	return err
}

// testImage reads the test image out of its archive.
func testImage(directory string) (v1.Image, error) {
	test := archives()[1]
	tag, err := name.NewTag(test.Names[0])
	if err != nil {
		return nil, fmt.Errorf("image name %q: %w", test.Names[0], err)
	}
	image, err := tarball.ImageFromPath(filepath.Join(directory, test.File), &tag)
	if err != nil {
		return nil, fmt.Errorf("read the test image (tools/setup.sh runtime makes it): %w", err)
	}
	return image, nil
}

// preload pushes the test image under every served name.
func preload(ctx context.Context, addr string, base v1.Image, options registryOptions) error {
	for _, reference := range served() {
		tag, err := name.NewTag(addr+"/"+reference, name.Insecure)
		if err != nil {
			return fmt.Errorf("image name %q: %w", reference, err)
		}
		file, err := base.ConfigFile()
		if err != nil {
			return fmt.Errorf("read the test image's configuration: %w", err)
		}
		config := *file.Config.DeepCopy()
		config.Labels = map[string]string{nameLabel: reference}
		image, err := mutate.Config(base, config)
		if err != nil {
			return fmt.Errorf("label %s: %w", reference, err)
		}
		login := remote.WithAuth(&authn.Basic{Username: options.user, Password: options.password})
		if options.user == "" {
			login = remote.WithAuth(authn.Anonymous)
		}
		if err := remote.Write(tag, image, remote.WithContext(ctx), login); err != nil {
			return fmt.Errorf("preload %s: %w", reference, err)
		}
	}
	return nil
}

// demandLogin asks for basic authentication when a user is set.
func demandLogin(next http.Handler, options registryOptions) http.Handler {
	if options.user == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		known := subtle.ConstantTimeCompare([]byte(user), []byte(options.user)) &
			subtle.ConstantTimeCompare([]byte(password), []byte(options.password))
		if known != 1 {
			w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
			http.Error(w, `{"errors":[{"code":"UNAUTHORIZED","message":"login required"}]}`, http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}
