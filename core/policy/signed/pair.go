package signed

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/wardlet/wardlet/core/strict"
)

// Pair has the two files of a signed set: the manifest and its signature.
type Pair struct {
	// Manifest and Signature are the texts of the files, nil if there is no such file.
	Manifest, Signature []byte
}

// Sign makes the pair of a set. sums maps the path of each file to its SHA-256 in hex. now
// is written into the trusted comment.
func Sign(revision uint64, sums map[string]string, key *SecretKey, now time.Time) (*Pair, error) {
	for path := range sums {
		if fault := faultOfPath(path); fault != "" {
			return nil, errors.New(fault)
		}
	}
	text := Build(revision, sums)
	m, err := ParseManifest(ManifestName, text)
	if err == nil {
		err = m.Check(sums)
	}
	if err != nil {
		return nil, fmt.Errorf("the set cannot have a manifest that would be accepted:\n%w", err)
	}
	signature, err := key.sign(text, fmt.Sprintf("revision %d, signed %s", revision, now.UTC().Format(time.RFC3339)))
	if err != nil {
		return nil, err
	}
	return &Pair{text, signature}, nil
}

// Read reads the pair in a directory. It follows no link below the directory, opens only
// regular files, and reads no more of each than its limit.
func Read(dir string) (*Pair, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	p := &Pair{}
	var first, second error
	p.Manifest, first = readFile(root, dir, ManifestName, strict.MaxSize)
	p.Signature, second = readFile(root, dir, SignatureName, MaxSignature)
	return p, errors.Join(first, second)
}

// readFile returns the bytes of a file, nil if there is no file of that name.
func readFile(root *os.Root, dir, name string, most int64) ([]byte, error) {
	data, err := readRegular(root, name, most)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", filepath.Join(dir, name), err)
	}
	return data, nil
}

func readRegular(root *os.Root, name string, most int64) ([]byte, error) {
	before, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, errors.New("it is no regular file; put one in its place")
	}
	// If the name has become a pipe, opening it without O_NONBLOCK would block.
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	opened, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !os.SameFile(before, opened) {
		return nil, errors.New("it was replaced while it was read; try again")
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("more than the %d bytes it may have", most)
	}
	return data, err
}

// Write writes the pair into a directory. Both files are on the disk before one of them
// gets its final name. The signature gets it first. An agent that reads in between, or
// after a crash, finds the old manifest with the new signature, and refuses the set. It
// reads again when the manifest changes, which is the last step.
func (p *Pair) Write(dir string) (err error) {
	var made []string
	defer func() {
		for _, name := range made {
			if e := os.Remove(name); !errors.Is(e, fs.ErrNotExist) {
				err = errors.Join(err, e)
			}
		}
	}()
	for _, text := range [][]byte{p.Signature, p.Manifest} {
		name, err := writeNew(dir, text)
		if err != nil {
			return err
		}
		made = append(made, name)
	}
	for i, name := range []string{SignatureName, ManifestName} {
		if err := os.Rename(made[i], filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return syncDirectory(dir)
}

// writeNew writes a file under a name that no agent reads, and returns the name.
func writeNew(dir string, text []byte) (string, error) {
	f, err := os.CreateTemp(dir, "."+ManifestName+"-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

func syncDirectory(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
