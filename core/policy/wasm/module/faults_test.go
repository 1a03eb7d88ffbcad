package module_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
)

// oneType and the following are sections that other sections need.
var (
	oneType     = section(1, "\x01\x60\x00\x00")
	oneFunction = section(3, "\x01\x00")
	oneTable    = section(4, "\x01\x70\x00\x01")
	oneMemory   = section(5, "\x01\x00\x01")
	oneBody     = section(10, "\x01\x02\x00\x0b")
)

// code returns a module with a memory and a function with this body, which begins at byte
// 0x1b.
func code(body string) []byte {
	return of(oneType, oneFunction, oneMemory, section(10, "\x01"+string(rune(len(body)))+body))
}

func TestMalformedModulesAreRefusedWithThePlace(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		module []byte
		want   string
	}{
		"nothing":                    {nil, `at byte 0x0: not a WebAssembly module: it does not begin with \0asm and a version`},
		"half a header":              {[]byte("\x00asm\x01\x00\x00"), `at byte 0x0: not a WebAssembly module: it does not begin with \0asm and a version`},
		"a text":                     {[]byte("#!/bin/sh"), `at byte 0x0: not a WebAssembly module: it does not begin with \0asm and a version`},
		"another version":            {[]byte("\x00asm\x02\x00\x00\x00"), `at byte 0x4: a WebAssembly module of another version than 1`},
		"a component":                {[]byte("\x00asm\x0d\x00\x01\x00"), `at byte 0x4: a WebAssembly component: build a core module (for Go: GOOS=wasip1 GOARCH=wasm, -buildmode=c-shared)`},
		"a section that is torn":     {of("\x01\x05\x00"), `at byte 0xa: 5 bytes are announced, 1 are left`},
		"a section without a length": {of("\x01"), `at byte 0x9: it ends in the middle`},
		"a length of 33 bits":        {of("\x01\xff\xff\xff\xff\x10"), `at byte 0x9: a number of more than 32 bits`},
		"a length that does not end": {of("\x01\x80\x80\x80\x80\x80\x00"), `at byte 0x9: a number of more than 32 bits`},
		"a section of another age":   {of(section(13, "\x00")), `at byte 0x8: section 13 is not supported`},
		"a section twice":            {of(oneType, oneType), `at byte 0xe: the type section stands twice, or after one it must precede`},
		"sections in another order":  {of(oneMemory, oneType), `at byte 0xd: the type section stands twice, or after one it must precede`},
		"a data count after the code": {
			of(oneType, oneFunction, oneBody, section(12, "\x00")),
			`at byte 0x18: the data count section stands twice, or after one it must precede`,
		},
		"a custom section without a name": {of(section(0, "")), `custom section, at byte 0xa: it ends in the middle`},
		"a custom name that is torn":      {of(section(0, "\x05abc")), `custom section, at byte 0xb: 5 bytes are announced, 3 are left`},
		"a custom name that is no UTF-8":  {of(section(0, "\x02\xc3\x28")), `custom section, at byte 0xa: a name that is not UTF-8`},

		"more types than bytes":      {of(section(1, "\xff\xff\xff\xff\x0f")), `type section, at byte 0xa: 4294967295 elements are announced, 0 bytes are left`},
		"a type that is no function": {of(section(1, "\x01\x5f\x00")), `type section, type 0, at byte 0xb: a type of form 0x5f: only functions are supported`},
		"more parameters than bytes": {of(section(1, "\x01\x60\x05\x7f\x00")), `type section, type 0, at byte 0xc: 5 elements are announced, 2 bytes are left`},
		"a parameter of two bytes":   {of(section(1, "\x01\x60\x01\x63\x70\x00")), `type section, type 0, at byte 0xd: a value of type 0x63: only i32, i64, f32, f64, v128, funcref and externref are supported`},
		"a result of no type":        {of(section(1, "\x02\x60\x00\x00\x60\x00\x01\x40")), `type section, type 1, at byte 0x11: a value of type 0x40: only i32, i64, f32, f64, v128, funcref and externref are supported`},
		"types that go on":           {of(section(1, "\x01\x60\x00\x00\x00")), `type section, at byte 0xe: 1 bytes after the last element`},
		"fewer types than announced": {of(section(1, "\x02\x60\x00\x00")), `type section, type 1, at byte 0xe: it ends in the middle`},

		"an import of no type":       {of(section(2, "\x01\x01a\x01b\x00\x00")), `import section, import 0, at byte 0x10: there is no type 0`},
		"an import of no kind":       {of(section(2, "\x01\x01a\x01b\x04\x00")), `import section, import 0, at byte 0xf: an import of kind 0x4 is not supported`},
		"an import with a bad name":  {of(section(2, "\x01\x01\xff\x01b\x00\x00")), `import section, import 0, at byte 0xb: a name that is not UTF-8`},
		"an imported table":          {of(section(2, "\x01\x01a\x01b\x01\x7f\x00\x00")), `import section, import 0, at byte 0x10: a table or segment of i32: only funcref and externref are supported`},
		"an imported shared memory":  {of(section(2, "\x01\x01a\x01b\x02\x03\x01\x01")), `import section, import 0, at byte 0x10: limits of kind 0x3: shared and 64-bit memories and tables are not supported`},
		"an imported global":         {of(section(2, "\x01\x01a\x01b\x03\x7f\x02")), `import section, import 0, at byte 0x11: a global is constant (0) or mutable (1), not 0x2`},
		"an import's name that ends": {of(section(2, "\x01\x01a\x09b")), `import section, import 0, at byte 0xe: 9 bytes are announced, 1 are left`},

		"a function of no type": {of(oneType, section(3, "\x02\x00\x01")), `function section, function 1, at byte 0x12: there is no type 1`},
		"functions without code": {
			of(oneType, oneFunction), `at byte 0x12: the code section has not as many bodies as the function section announces`,
		},

		"a table of numbers":       {of(section(4, "\x01\x7f\x00\x01")), `table section, table 0, at byte 0xb: a table or segment of i32: only funcref and externref are supported`},
		"a table with initialiser": {of(section(4, "\x01\x40\x00\x70\x00\x01\xd0\x70\x0b")), `table section, table 0, at byte 0xb: a value of type 0x40: only i32, i64, f32, f64, v128, funcref and externref are supported`},
		"a 64-bit table":           {of(section(4, "\x01\x70\x04\x01")), `table section, table 0, at byte 0xc: limits of kind 0x4: shared and 64-bit memories and tables are not supported`},
		"a table that shrinks":     {of(section(4, "\x01\x70\x01\x05\x04")), `table section, table 0, at byte 0xc: limits of 5 to 4: at most 4294967295, and the first at most the second`},
		"a table of 33 bits":       {of(section(4, "\x01\x70\x00\x81\x80\x80\x80\x10")), `table section, table 0, at byte 0xd: a number of more than 32 bits`},
		"a shared memory":          {of(section(5, "\x01\x03\x01\x01")), `memory section, memory 0, at byte 0xb: limits of kind 0x3: shared and 64-bit memories and tables are not supported`},
		"a memory above 4 GiB":     {of(section(5, "\x01\x00\x81\x80\x04")), `memory section, memory 0, at byte 0xb: limits of 65537 to 65537: at most 65536, and the first at most the second`},
		"a maximum above 4 GiB":    {of(section(5, "\x01\x01\x01\x81\x80\x04")), `memory section, memory 0, at byte 0xb: limits of 1 to 65537: at most 65536, and the first at most the second`},

		"a global of no type":           {of(section(6, "\x01\x69\x00\xd0\x69\x0b")), `global section, global 0, at byte 0xb: a value of type 0x69: only i32, i64, f32, f64, v128, funcref and externref are supported`},
		"a global half mutable":         {of(section(6, "\x01\x7f\x02\x41\x00\x0b")), `global section, global 0, at byte 0xc: a global is constant (0) or mutable (1), not 0x2`},
		"an initialiser that computes":  {of(section(6, "\x01\x7f\x00\x41\x00\x41\x01\x6a\x0b")), `global section, global 0, at byte 0xf: an initialiser that is not one constant`},
		"an initialiser of nothing":     {of(section(6, "\x01\x7f\x00\x0b")), `global section, global 0, at byte 0xd: an initialiser that is not one constant`},
		"an initialiser that is called": {of(section(6, "\x01\x7f\x00\x10\x00\x0b")), `global section, global 0, at byte 0xd: an instruction that is not supported in an initialiser`},
		"an initialiser that loads":     {of(section(6, "\x01\x7b\x00\xfd\x00\x00\x00\x0b")), `global section, global 0, at byte 0xd: an instruction that is not supported in an initialiser`},
		"an initialiser that is torn":   {of(section(6, "\x01\x7f\x00\x41\x00")), `global section, global 0, at byte 0xf: it ends in the middle`},
		"half a float":                  {of(section(6, "\x01\x7d\x00\x43\x00\x00\x0b")), `global section, global 0, at byte 0xe: 4 bytes are announced, 3 are left`},
		"a constant of 33 bits":         {of(section(6, "\x01\x7f\x00\x41\x80\x80\x80\x80\x08\x0b")), `global section, global 0, at byte 0xe: a number of more than 32 bits`},
		"a function that is not there":  {of(section(6, "\x01\x70\x00\xd2\x00\x0b")), `global section, global 0, at byte 0xe: there is no function 0`},
		"a global of itself":            {of(section(6, "\x01\x7f\x00\x23\x00\x0b")), `global section, global 0, at byte 0xe: there is no global 0`},
		"a null of numbers":             {of(section(6, "\x01\x70\x00\xd0\x7f\x0b")), `global section, global 0, at byte 0xe: a table or segment of i32: only funcref and externref are supported`},

		"an export of no kind":           {of(section(7, "\x01\x01a\x04\x00")), `export section, export 0, at byte 0xd: an export of kind 0x4 is not supported`},
		"an exported function not there": {of(section(7, "\x01\x01a\x00\x00")), `export section, export 0, at byte 0xe: there is no function 0`},
		"an exported table not there":    {of(oneTable, section(7, "\x01\x01a\x01\x01")), `export section, export 0, at byte 0x14: there is no table 1`},
		"an exported memory not there":   {of(section(7, "\x01\x01a\x02\x00")), `export section, export 0, at byte 0xe: there is no memory 0`},
		"an exported global not there":   {of(section(7, "\x01\x01a\x03\x00")), `export section, export 0, at byte 0xe: there is no global 0`},
		"a start that is not there":      {of(section(8, "\x00")), `start section, at byte 0xa: there is no function 0`},
		"two starts":                     {of(oneType, oneFunction, section(8, "\x00\x00"), oneBody), `start section, at byte 0x15: 1 bytes after the last element`},

		"elements of no kind":            {of(section(9, "\x01\x08")), `element section, element 0, at byte 0xb: elements of kind 8 are not supported`},
		"elements of no table":           {of(section(9, "\x01\x00\x41\x00\x0b\x00")), `element section, element 0, at byte 0xb: there is no table 0`},
		"elements of another table":      {of(oneTable, section(9, "\x01\x02\x01\x41\x00\x0b\x00\x00")), `element section, element 0, at byte 0x11: there is no table 1`},
		"elements that are no functions": {of(section(9, "\x01\x01\x01\x00")), `element section, element 0, at byte 0xc: elements that are no functions`},
		"elements of numbers":            {of(section(9, "\x01\x05\x7f\x00")), `element section, element 0, at byte 0xc: a table or segment of i32: only funcref and externref are supported`},
		"an element not there":           {of(section(9, "\x01\x01\x00\x01\x00")), `element section, element 0, at byte 0xe: there is no function 0`},
		"an expression not there":        {of(section(9, "\x01\x05\x70\x01\xd2\x00\x0b")), `element section, element 0, at byte 0xf: there is no function 0`},
		"an expression of nothing":       {of(section(9, "\x01\x05\x70\x02\x0b\x0b")), `element section, element 0, at byte 0xe: an initialiser that is not one constant`},
		"more elements than bytes":       {of(section(9, "\x01\x01\x00\xff\xff\x03\x00")), `element section, element 0, at byte 0xd: 65535 elements are announced, 1 bytes are left`},
		"more segments than bytes":       {of(section(9, "\xcf\xcf\xcf\x0b")), `element section, at byte 0xa: 24373199 elements are announced, 0 bytes are left`},

		"a body without a function":  {of(oneBody), `code section, function 0, at byte 0xc: a body without a function`},
		"a body too few":             {of(oneType, section(3, "\x02\x00\x00"), oneBody), `at byte 0x19: the code section has not as many bodies as the function section announces`},
		"a body that is torn":        {of(oneType, oneFunction, section(10, "\x01\x09\x00\x0b")), `code section, function 0, at byte 0x16: 9 bytes are announced, 2 are left`},
		"a body that goes on":        {of(oneType, oneFunction, section(10, "\x01\x02\x00\x0b\x0b")), `code section, at byte 0x18: 1 bytes after the last element`},
		"more locals than there are": {of(oneType, oneFunction, section(10, "\x01\x0e\x02\xff\xff\xff\xff\x0f\x7f\x01\x7f\x0b\x00\x00\x00\x00")), `code section, function 0, at byte 0x1f: 4294967296 local variables`},
		"a local of no type":         {of(oneType, oneFunction, section(10, "\x01\x04\x01\x01\x40\x0b")), `code section, function 0, at byte 0x18: a value of type 0x40: only i32, i64, f32, f64, v128, funcref and externref are supported`},
		"a local of two bytes":       {of(oneType, oneFunction, section(10, "\x01\x05\x01\x01\x63\x70\x0b")), `code section, function 0, at byte 0x18: a value of type 0x63: only i32, i64, f32, f64, v128, funcref and externref are supported`},
		"more groups than bytes":     {of(oneType, oneFunction, section(10, "\x01\x02\x7f\x0b")), `code section, function 0, at byte 0x16: 127 elements are announced, 1 bytes are left`},

		"data of no kind":       {of(section(11, "\x01\x03")), `data section, data 0, at byte 0xb: data of kind 3 is not supported`},
		"data of no memory":     {of(section(11, "\x01\x00\x41\x00\x0b\x00")), `data section, data 0, at byte 0xb: there is no memory 0`},
		"data of memory 1":      {of(oneMemory, section(11, "\x01\x02\x01\x41\x00\x0b\x00")), `data section, data 0, at byte 0x10: there is no memory 1`},
		"more data than bytes":  {of(oneMemory, section(11, "\x01\x00\x41\x00\x0b\xff\xff\xff\xff\x0f")), `data section, data 0, at byte 0x19: 4294967295 bytes are announced, 0 are left`},
		"fewer data than count": {of(section(12, "\x02"), section(11, "\x01\x01\x00")), `at byte 0x10: the data section has not as many segments as the data count section announces`},
		"no data, but a count":  {of(section(12, "\x01")), `at byte 0xb: the data section has not as many segments as the data count section announces`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assertFault(t, test.module, test.want)
		})
	}
}

func assertFault(t *testing.T, binary []byte, want string) {
	t.Helper()
	err := read(binary)
	if _, ok := errors.AsType[*module.Fault](err); !ok {
		t.Fatalf("error %v of type %T, want a *Fault", err, err)
	}
	if err.Error() != want {
		t.Errorf("%s\nwant %s", err, want)
	}
}

func TestMalformedCodeIsRefusedWithThePlace(t *testing.T) {
	t.Parallel()
	at := func(offset, what string) string { return "code section, function 0, at byte 0x" + offset + ": " + what }
	for name, test := range map[string]struct{ body, want string }{
		"no end":                           {"\x00\x01", at("1d", "it ends in the middle")},
		"no instruction at all":            {"\x00", at("1c", "it ends in the middle")},
		"bytes after the end":              {"\x00\x0b\x0b", at("1d", "1 bytes after the function's end")},
		"an unknown instruction":           {"\x00\xff\x0b", at("1c", "instruction 0xff is not supported")},
		"a tail call":                      {"\x00\x12\x00\x0b", at("1c", "instruction 0x12 is not supported")},
		"an atomic":                        {"\x00\xfe\x03\x00\x0b", at("1c", "instruction 0xfe is not supported")},
		"an unknown one on ranges":         {"\x00\xfc\x12\x0b", at("1c", "instruction 0xfc0012 is not supported")},
		"an unknown one on vectors":        {"\x00\xfd\x9a\x01\x0b", at("1c", "instruction 0xfd009a is not supported")},
		"a relaxed one on vectors":         {"\x00\xfd\x80\x02\x0b", at("1c", "instruction 0xfd0100 is not supported")},
		"one of a very high number":        {"\x00\xfd\x80\x80\x04\x0b", at("1c", "instruction 0xfdffff is not supported")},
		"a prefix alone":                   {"\x00\xfc", at("1d", "it ends in the middle")},
		"an else alone":                    {"\x00\x05\x0b", at("1c", "an else without an if")},
		"two elses":                        {"\x00\x41\x00\x04\x40\x05\x05\x0b\x0b", at("21", "an else without an if")},
		"a label that is not there":        {"\x00\x0c\x01\x0b", at("1d", "there is no label 1")},
		"a label of br_table not there":    {"\x00\x41\x00\x0e\x01\x00\x01\x0b", at("21", "there is no label 1")},
		"more labels than bytes":           {"\x00\x41\x00\x0e\xff\xff\xff\xff\x0f\x0b", at("1f", "4294967295 elements are announced, 1 bytes are left")},
		"a function that is not there":     {"\x00\x10\x01\x0b", at("1d", "there is no function 1")},
		"a type that is not there":         {"\x00\x11\x01\x00\x0b", at("1d", "there is no type 1")},
		"a table that is not there":        {"\x00\x11\x00\x00\x0b", at("1e", "there is no table 0")},
		"a local that is not there":        {"\x00\x20\x05\x0b", at("1d", "there is no local 5")},
		"a local after the last":           {"\x01\x02\x7f\x20\x02\x0b", at("1f", "there is no local 2")},
		"a global that is not there":       {"\x00\x23\x00\x0b", at("1d", "there is no global 0")},
		"a block of no type":               {"\x00\x02\x60\x0b\x0b", at("1d", "a block of type 0x60")},
		"a block of a type not there":      {"\x00\x02\x01\x0b\x0b", at("1d", "there is no type 1")},
		"a block whose type is long":       {"\x00\x02\xff\x7e\x0b\x0b", at("1d", "a block of type 0x7f")},
		"a block type of 34 bits":          {"\x00\x02\x80\x80\x80\x80\x20\x0b\x0b", at("1d", "a number of more than 33 bits")},
		"a select of two types":            {"\x00\x1c\x02\x7f\x7f\x0b", at("1d", "a select of other than one type")},
		"a select of no type":              {"\x00\x1c\x00\x0b", at("1d", "a select of other than one type")},
		"a load without an offset":         {"\x00\x41\x00\x28\x00", at("20", "it ends in the middle")},
		"another memory":                   {"\x00\x3f\x01\x0b", at("1d", "there is only one memory")},
		"another memory to copy from":      {"\x00\xfc\x0a\x00\x01\x0b", at("1f", "there is only one memory")},
		"a segment without a count":        {"\x00\xfc\x09\x00\x0b", at("1e", "it names a segment of data, and there is no data count section")},
		"a segment of elements not there":  {"\x00\xfc\x0d\x00\x0b", at("1e", "there is no segment of elements 0")},
		"elements to a table not there":    {"\x00\xfc\x0c\x00\x00\x0b", at("1e", "there is no segment of elements 0")},
		"a null of numbers":                {"\x00\xd0\x7f\x0b", at("1d", "a table or segment of i32: only funcref and externref are supported")},
		"a constant of 33 bits":            {"\x00\x41\x80\x80\x80\x80\x08\x0b", at("1d", "a number of more than 32 bits")},
		"a constant of 65 bits":            {"\x00\x42\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01\x0b", at("1d", "a number of more than 64 bits")},
		"half a float":                     {"\x00\x44\x00\x00\x0b", at("1d", "8 bytes are announced, 3 are left")},
		"half a vector":                    {"\x00\xfd\x0c\x00\x0b", at("1e", "16 bytes are announced, 2 are left")},
		"an operand that is not there":     {"\x00\x1a\x0b", at("1c", "the operand stack is empty")},
		"an operand from outside a block":  {"\x00\x41\x00\x02\x40\x1a\x0b\x1a\x0b", at("20", "the operand stack is empty")},
		"an if without a condition":        {"\x00\x04\x40\x0b\x0b", at("1c", "the operand stack is empty")},
		"br_if without a condition":        {"\x00" + "\x0d\x00\x0b", at("1c", "the operand stack is empty")},
		"operands of the then in the else": {"\x00\x41\x00\x04\x40\x41\x00\x05\x1a\x0b\x0b", at("23", "the operand stack is empty")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assertFault(t, code(test.body), test.want)
		})
	}
	assertFault(t, of(oneType, oneFunction, section(10, "\x01\x07\x00\x41\x00\x28\x00\x00\x0b")), at("1a", "there is no memory"))
	assertFault(t, of(oneType, oneFunction, section(10, "\x01\x05\x00\x3f\x00\x1a\x0b")), at("19", "there is no memory"))
	assertFault(t, of(oneType, oneFunction, section(12, "\x01"), section(10, "\x01\x05\x00\xfc\x09\x01\x0b"), section(11, "\x01\x01\x00")),
		at("1c", "there is no segment of data 1"))
}

// TestFaultsCountImportedFunctions checks that function numbers in errors include the
// imported functions.
func TestFaultsCountImportedFunctions(t *testing.T) {
	t.Parallel()
	binary := of(oneType, section(2, "\x01\x01a\x01b\x00\x00"), oneFunction, section(10, "\x01\x03\x00\xff\x0b"))
	assertFault(t, binary, "code section, function 1, at byte 0x20: instruction 0xff is not supported")
}

func TestElementsAreCapped(t *testing.T) {
	t.Parallel()
	binary := of(section(1, "\x03\x60\x00\x00\x60\x00\x00\x60\x00\x00"))
	for most, want := range map[int]string{
		0: "", 3: "", 4: "",
		2: "type section, at byte 0xa: 3 elements: at most 2 are supported",
	} {
		_, err := module.Parse(binary, module.Caps{module.SectionType: most})
		if got := text(err); got != want {
			t.Errorf("at most %d: %s, want %s", most, got, want)
		}
	}
	for id := range module.SectionDataCount {
		switch id {
		case module.SectionCustom, module.SectionStart:
			continue
		}
		caps := module.Caps{}
		caps[id] = 1
		_, err := module.Parse(of(section(id, "\x02"+strings.Repeat("\x00", 40))), caps)
		s := module.Section{ID: id}
		if want := s.Name() + " section, at byte 0xa: 2 elements: at most 1 are supported"; text(err) != want {
			t.Errorf("%s, want %s", text(err), want)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
