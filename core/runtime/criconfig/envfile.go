package criconfig

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	v1 "k8s.io/api/core/v1"
)

// ReadFile reads a file in a volume of a pod that one of its containers has written. The error is a
// fs.ErrNotExist if there is no such file.
type ReadFile func(p *v1.Pod, volume, path string) ([]byte, error)

// fileKey returns the value of a variable in a file. ok is false if the file or the variable is
// missing and may be missing.
func (b *Builder) fileKey(p *v1.Pod, of *v1.FileKeySelector) (value string, ok bool, err error) {
	if b.config.ReadFile == nil {
		return "", false, errors.New("fileKeyRef is not supported")
	}
	data, err := b.config.ReadFile(p, of.VolumeName, of.Path)
	if errors.Is(err, fs.ErrNotExist) && isTrue(of.Optional) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("file %s of volume %s: %w", of.Path, of.VolumeName, err)
	}
	value, ok, err = fileVariable(data, of.Key)
	switch {
	case err != nil:
		return "", false, fmt.Errorf("file %s of volume %s: %w", of.Path, of.VolumeName, err)
	case !ok && !isTrue(of.Optional):
		return "", false, fmt.Errorf("file %s of volume %s has no variable %q", of.Path, of.VolumeName, of.Key)
	}
	return value, ok, nil
}

// blanks are the characters allowed before a name and after a value.
const blanks = " \t"

// fileVariable returns the value of a variable in a file of lines NAME='value', in the syntax of a
// shell. A value may have several lines. A line may have blanks before it and a comment (#) after
// it. A blank after the equals sign means an empty value. The error names the line; the text after
// the variable is not read.
func fileVariable(data []byte, name string) (value string, ok bool, err error) {
	for line := 1; len(data) > 0; line++ {
		whole := data
		var text []byte
		text, data, _ = bytes.Cut(data, []byte("\n"))
		end := len(text)
		text = bytes.TrimLeft(text, blanks)
		if len(bytes.TrimRight(text, "\r")) == 0 || text[0] == '#' {
			continue
		}
		found, rest, equals := bytes.Cut(text, []byte("="))
		switch {
		case !equals:
			return "", false, fmt.Errorf("line %d has no '='; want NAME='value'", line)
		case len(found) == 0:
			return "", false, fmt.Errorf("line %d has no name before '='; want NAME='value'", line)
		case bytes.ContainsAny(found[len(found)-1:], blanks):
			return "", false, fmt.Errorf("line %d has a blank before '='; want NAME='value'", line)
		}
		if len(rest) == 0 || !bytes.ContainsAny(rest[:1], blanks+"'") {
			return "", false, fmt.Errorf("line %d: the value is not in single quotes; want NAME='value'", line)
		}
		if rest[0] != '\'' {
			if string(found) == name {
				return "", true, nil
			}
			continue
		}
		// The rest of the file may belong to the value.
		quoted, after, closed := bytes.Cut(whole[end-len(rest)+1:], []byte("'"))
		if !closed {
			return "", false, fmt.Errorf("line %d: the single quote is not closed", line)
		}
		line += bytes.Count(quoted, []byte("\n"))
		after, data, _ = bytes.Cut(after, []byte("\n"))
		if after = bytes.Trim(after, blanks+"\r"); len(after) > 0 && after[0] != '#' {
			return "", false, fmt.Errorf("line %d: %.40q follows the value; want NAME='value'", line, after)
		}
		if string(found) == name {
			return string(quoted), true, nil
		}
	}
	return "", false, nil
}
