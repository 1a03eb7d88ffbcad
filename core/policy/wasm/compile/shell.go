package compile

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"

	"github.com/tetratelabs/wazero"
)

// The shell of a module is the module with functions that do nothing: it has the
// same types, imports, exports, globals and data. The agent passes the shell to
// wazero instead of the module, with the code that the child made from the whole
// module. With the module, wazero would check each instruction again before it uses
// the code, which is half of the loading time, and would keep the instructions in
// memory as long as the code is in use.
const (
	// shellName is the name of the shell in an entry.
	shellName = "shell.wasm"
	// shellMark is the name of the custom section in which a shell has the digest
	// of its module. wazero identifies modules by their bytes, so the shells of
	// modules that differ only in their code must differ, too.
	shellMark = "wardlet:code"
)

const (
	wasmHeader    = 8
	customSection = 0
	codeSection   = 10
)

// emptyBody is the body of a function in a shell: its length, no local variables,
// unreachable, end.
var emptyBody = [...]byte{3, 0, 0x00, 0x0b}

var errNotWhole = errors.New("the module is not whole")

// shellOf makes the shell of a module. digest is the digest of the module.
func shellOf(module []byte, digest Digest) ([]byte, error) {
	if len(module) < wasmHeader {
		return nil, errNotWhole
	}
	out := append([]byte(nil), module[:wasmHeader]...)
	for rest := module[wasmHeader:]; len(rest) > 0; {
		size, n := binary.Uvarint(rest[1:])
		if n <= 0 || size > uint64(len(rest)-1-n) {
			return nil, errNotWhole
		}
		end := 1 + n + int(size)
		if rest[0] == codeSection {
			functions, n := binary.Uvarint(rest[1+n : end])
			if n <= 0 || functions > size {
				return nil, errNotWhole
			}
			out = appendSection(out, codeSection, emptyBodies(functions))
		} else {
			out = append(out, rest[:end]...)
		}
		rest = rest[end:]
	}
	mark := append([]byte{byte(len(shellMark))}, shellMark...)
	return appendSection(out, customSection, append(mark, digest[:]...)), nil
}

func appendSection(out []byte, id byte, payload []byte) []byte {
	return append(binary.AppendUvarint(append(out, id), uint64(len(payload))), payload...)
}

func emptyBodies(n uint64) []byte {
	out := binary.AppendUvarint(nil, n)
	for range n {
		out = append(out, emptyBody[:]...)
	}
	return out
}

// finish describes the files that wazero made of a module in dir. If they are code,
// finish adds the module's shell, and renames the code to the name under which
// wazero looks for the code of the shell.
func finish(dir string, config wazero.RuntimeConfig, module []byte) (made codeFiles, err error) {
	if made.Files, err = findFiles(dir); err != nil || len(made.Files) == 0 {
		return made, err
	}
	text, err := shellOf(module, sha256.Sum256(module))
	if err != nil {
		return made, err
	}
	aside := filepath.Join(dir, "aside")
	if err := os.Mkdir(aside, 0o700); err != nil {
		return made, err
	}
	if err := compileInto(aside, config, text); err != nil {
		return made, err
	}
	empty, err := findFiles(aside)
	if err != nil {
		return made, err
	}
	if len(made.Files) != 1 || len(empty) != 1 {
		return made, errManyFiles
	}
	code := &made.Files[0]
	was := filepath.Join(dir, code.Name)
	code.Name = empty[0].Name
	path := filepath.Join(dir, shellName)
	if err := errors.Join(os.Rename(was, filepath.Join(dir, code.Name)), os.RemoveAll(aside), writeWhole(path, text)); err != nil {
		return made, err
	}
	shell, err := fileAt(path)
	shell.Name = shellName
	made.Shell = &shell
	return made, err
}

var errManyFiles = errors.New("wazero makes several files of one module")
