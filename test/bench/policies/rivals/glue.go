package rivals

import (
	"encoding/binary"
	"slices"

	"github.com/tetratelabs/wazero/api"
)

// A policy of OPA imports its memory, but a host module of wazero cannot export one. So a module
// between them exports a memory, and forwards the host's functions.
const (
	hostName = "host"
	glueName = "env"
)

// glue returns that module, for a policy that imports these functions and a memory of pages pages.
func glue(functions []api.FunctionDefinition, pages uint32) []byte {
	const kindFunction, kindMemory = 0, 2
	var types, imports [][]byte
	exports := [][]byte{slices.Concat(name("memory"), []byte{kindMemory, 0})}
	for i, f := range functions {
		_, export, _ := f.Import()
		n := number(uint32(i))
		types = append(types, slices.Concat([]byte{0x60}, vector(each(f.ParamTypes())), vector(each(f.ResultTypes()))))
		imports = append(imports, slices.Concat(name(hostName), name(export), []byte{kindFunction}, n))
		exports = append(exports, slices.Concat(name(export), []byte{kindFunction}, n))
	}
	return slices.Concat([]byte("\x00asm\x01\x00\x00\x00"),
		section(1, types), section(2, imports), section(5, [][]byte{append([]byte{0}, number(pages)...)}), section(7, exports))
}

func section(id byte, elements [][]byte) []byte {
	content := vector(elements)
	return slices.Concat([]byte{id}, number(uint32(len(content))), content)
}

func vector(elements [][]byte) []byte {
	return append(number(uint32(len(elements))), slices.Concat(elements...)...)
}

func each(values []api.ValueType) (elements [][]byte) {
	for _, v := range values {
		elements = append(elements, []byte{v})
	}
	return elements
}

func name(text string) []byte { return append(number(uint32(len(text))), text...) }

func number(n uint32) []byte { return binary.AppendUvarint(nil, uint64(n)) }
