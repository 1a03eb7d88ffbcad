package parts

import (
	"log/slog"
	"path/filepath"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/manifest"
	"github.com/wardlet/wardlet/core/object"
	"github.com/wardlet/wardlet/core/source"
	"github.com/wardlet/wardlet/core/source/file"
)

// objectKeyFile is the generated key in the state directory.
const objectKeyFile = "objects.key"

// ObjectKey says where the key of kept Secrets may be. lookupEnv returns variables of the environment, by which a service
// manager says where credentials are; nil for none.
func ObjectKey(cfg *config.Config, lookupEnv func(string) (string, bool)) object.KeyPlaces {
	places := object.KeyPlaces{File: cfg.Objects.KeyFile, Generated: filepath.Join(cfg.Paths.StateRoot, objectKeyFile)}
	if lookupEnv != nil {
		places.Credentials, _ = lookupEnv("CREDENTIALS_DIRECTORY")
	}
	return places
}

// ObjectDirectory says how the directory of objects is read.
func ObjectDirectory(cfg *config.Config, sink source.Sink, log *slog.Logger) file.Config {
	return file.Config{
		Name: "objects", Path: cfg.Objects.Dir, Sink: sink, Decode: manifest.DecodeObjects, OwnerOnly: true, Logger: log,
	}
}
