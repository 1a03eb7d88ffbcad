package meter

import "github.com/wardlet/wardlet/core/policy/wasm/module"

// weights are the fuel that an instruction takes, by its class. On the machine
// they were measured on a unit is 0.05 to 0.6 ns of the compiler's code, and
// 1.3 ns where every load misses the nearer caches.
var weights = [...]uint32{
	module.Free:       0,
	module.Simple:     1,
	module.Multiply:   2,
	module.Divide:     10,
	module.Float:      3,
	module.Root:       10,
	module.Load:       2,
	module.Store:      2,
	module.Calling:    4,
	module.Indirect:   8,
	module.Jump:       3,
	module.Vector:     2,
	module.VectorLong: 5,
	module.Bulk:       30,
}

// What ranges of memory and tables take beside their instruction.
const (
	// bytesPerUnit is how many bytes of memory are filled or copied for a unit.
	bytesPerUnit = 8
	// pieceBytes is the longest range that is done in one go, yieldBytes the
	// longest after which the host is not asked: it may be 8 pages, each of which
	// may be a page fault of 2 to 20 µs.
	pieceBytes = 16 << 10
	yieldBytes = 8 << 10
	// fuelPerElement is what an element of a table takes.
	fuelPerElement = 2
	// fuelPerPage is what a page of 64 KiB takes that memory.grow adds.
	fuelPerPage = 50_000
)

// shortIf is the most that an if takes, with its else, that is taken together with
// what comes before and after it.
const shortIf = 40

// What bounds how long a module runs between two looks at the fuel.
const (
	// longestBlock is the most that a block takes: longer ones are cut.
	longestBlock = 4096
	// uncheckedFuel is the most that blocks in a row take without a look.
	uncheckedFuel = 8192
	// longestTouches is the most touches of memory that a block has, and
	// uncheckedTouches the most that blocks in a row have without a look: see
	// touches.
	longestTouches   = 32
	uncheckedTouches = 32
	// uncheckedReturn is the most that is done after a call that may have been deep
	// without a look, if it touches no memory. On the way back from a recursion
	// each of a thousand calls may do that.
	uncheckedReturn = 64
)

// touches are how much an instruction may take, by its class, if it is the first
// to its pages: page faults that no fuel counts, of 0.5 µs where it reads and
// of 2 where it writes. A load or store may lie across two pages; a range that
// is not done in pieces lies in 3, or is copied from 3 to 3.
var touches = [module.Bulk + 1]uint32{
	module.Load:  1,
	module.Store: 2,
	module.Bulk:  6,
}

// maxSets is how many variables a loop may set for them to be detached where
// it asks the host: see rewriting.detach.
const maxSets = 32

// Frame sizes, in bytes of the stack's budget.
const (
	// slot is an operand or local variable of at most 64 bits, wideSlot one of
	// a function that uses vectors.
	slot     = 8
	wideSlot = 16
	// smallLeaf is how large the frame of a function without calls may be
	// without being charged.
	smallLeaf = 16 << 10
)

// MinFrame is the least that a call takes of the stack's budget: as large as
// the budget may be, it ends a recursion at StackBudget/MinFrame calls.
const MinFrame = 1 << 10

// StackBudget is what the calls under way may take of the stack together, in
// bytes: at most 1024 of them.
const StackBudget = 1 << 20

func weight(info *module.Info) uint32 { return weights[info.Class] }
