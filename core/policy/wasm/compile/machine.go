package compile

import (
	"reflect"
	"unsafe"

	"github.com/tetratelabs/wazero"
)

// machineCode returns the memory in which wazero keeps the machine code of a
// module. It is nil if wazero keeps none, or keeps it elsewhere than this version
// does. wazero does not export it, so its variables are read; nothing is written
// to them. No module of the same runtime may be compiled or closed at the same
// time. The memory is wazero's and is released when the module is closed.
func machineCode(module wazero.CompiledModule) []byte {
	known := field(field(reflect.ValueOf(module), "compiledEngine"), "compiledModules")
	id := field(field(reflect.ValueOf(module), "module"), "ID")
	if known.Kind() != reflect.Map || !id.IsValid() || id.Type() != known.Type().Key() {
		return nil
	}
	code := field(field(field(known.MapIndex(id), "compiledModule"), "executables"), "executable")
	if code.Kind() != reflect.Slice || code.Type().Elem().Kind() != reflect.Uint8 || code.Len() == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(code.UnsafePointer()), code.Len())
}

// field is a field of a struct or of one that is pointed to, the zero value where
// there is none.
func field(of reflect.Value, name string) reflect.Value {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Interface {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct {
		return reflect.Value{}
	}
	return of.FieldByName(name)
}
