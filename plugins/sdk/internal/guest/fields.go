package guest

import (
	"errors"

	"github.com/wardlet/wardlet/plugins/sdk/internal/host"
	"github.com/wardlet/wardlet/plugins/sdk/internal/record"
)

// fields are the fields that the plugin declared. The handle of a field is its index.
var fields struct {
	declared []field
	// lazy has a bit for each handle, set if the field is fetched only when it is read.
	// recorded are the handles of all other fields.
	lazy     uint64
	recorded []uint16
}

type field struct {
	path string
	// declare declares the field to the agent. fetch gets its value from the agent. These
	// functions are stored in variables, not called by name, so that a plugin imports only
	// the functions of the agent that it needs.
	declare func(path string) int32
	fetch   func(handle int) record.Value
}

// Declare declares the field at a path, which includes the root, and returns its handle. It
// must be called while packages initialise.
func Declare(path string) (handle int) {
	if calls.stage != declaring {
		Fault("field " + path + " is declared too late: declare fields as package variables")
		return -1
	}
	fields.declared = append(fields.declared, field{path: path, declare: host.Path})
	return len(fields.declared) - 1
}

// Lazy removes a field from the record. The field is then fetched when it is read. It must
// be called while packages initialise.
func Lazy(handle int) {
	if handle < 0 || handle >= record.MaxFields || fields.lazy>>handle&1 != 0 {
		return
	}
	f := &fields.declared[handle]
	if calls.stage != declaring {
		Fault("field " + f.path + " is made lazy too late: do it where the field is declared")
		return
	}
	f.declare, f.fetch = host.Field, fetch
	fields.lazy |= 1 << handle
}

// tell declares the fields to the agent.
func tell() error {
	if len(fields.declared) > record.MaxFields {
		return errors.New("the plugin declares " + Itoa(len(fields.declared)) + " fields: there may be " + Itoa(record.MaxFields))
	}
	fields.recorded = nil
	for handle := range fields.declared {
		f := &fields.declared[handle]
		if int(f.declare(f.path)) != handle {
			return errors.New("the agent refuses the field " + f.path)
		}
		if fields.lazy>>handle&1 == 0 {
			fields.recorded = append(fields.recorded, uint16(handle))
		}
	}
	return nil
}

// Path returns the path of a declared field, for errors.
func Path(handle int) string {
	if handle < 0 {
		return "that is declared too late"
	}
	return fields.declared[handle].path
}

// Place returns the address at which the value of a declared field is stored while a pod is
// judged. The value there is the zero Value if no pod is judged, and for a lazy field that
// was not read yet.
func Place(handle int) *record.Value {
	if uint(handle) < record.MaxFields {
		return calls.index.Of(uint(handle))
	}
	return new(record.Value)
}

// Field returns the value of a declared field of the judged pod. place is the result of
// Place.
func Field(handle int, place *record.Value) record.Value {
	if v := *place; !v.None() {
		return v
	}
	return unread(handle)
}

// unread does what Field does, for a field whose value is not stored yet.
func unread(handle int) record.Value {
	if handle < 0 || calls.stage != judging {
		Fault("field " + Path(handle) + " is read where no pod is judged: read fields in the policy, not in setup")
		return record.Value{}
	}
	v := fields.declared[handle].fetch(handle)
	*Place(handle) = v
	return v
}

// fetch gets the value of a lazy field from the agent.
func fetch(handle int) record.Value {
	// This does what ask does, without a call of a function in a variable, which would take
	// longer.
	free := calls.free()
	length := int(host.Get(int32(handle), free))
	var value []byte
	switch {
	case length < 0:
	case length <= len(free):
		value = keep(length)
	default:
		value = make([]byte, length)
		length = int(host.Get(int32(handle), value))
	}
	if length < 0 || length != len(value) {
		Fault("the agent does not give field " + Path(handle))
		return record.Value{}
	}
	v, err := record.Head(Text(value))
	if err != nil {
		Fault("field " + Path(handle) + ": " + err.Error())
	}
	return v
}

// ask calls write, with which the agent writes an answer of unknown length, and returns the
// answer. It first passes the free memory. If that is too short, it allocates the length
// that write returned, and calls write again. It returns false if the agent returns a
// negative length.
func ask(write func(buf []byte) int32) (answer []byte, ok bool) {
	free := calls.free()
	length := int(write(free))
	switch {
	case length < 0:
		return nil, false
	case length <= len(free):
		return keep(length), true
	}
	answer = make([]byte, length)
	return answer, int(write(answer)) == length
}

// Document returns a whole document as JSON. The numbers are those of host.JSON. Each call
// returns new memory, nil if there is no such document.
func Document(number int) []byte {
	if calls.stage != judging {
		Fault("a document is read where no pod is judged: read it in the policy, not in setup")
		return nil
	}
	document, ok := ask(func(buf []byte) int32 { return host.JSON(int32(number), buf) })
	if !ok {
		return nil
	}
	return document
}
