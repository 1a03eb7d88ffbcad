package meter

import "github.com/wardlet/wardlet/core/policy/wasm/module"

// weights are the fuel of an instruction, by its class. On the machine on which
// they were measured, a unit is 0.05 to 0.6 ns of compiled code, and 1.3 ns if
// every load misses the nearer caches.
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

// These are the costs of ranges of memory and tables, in addition to the
// instruction.
const (
	// bytesPerUnit is how many bytes of memory are filled or copied for one unit.
	bytesPerUnit = 8
	// pieceBytes is the longest range that is processed at once. yieldBytes is the
	// longest after which the host is not called: it may touch 8 pages, each with a
	// page fault of 2 to 20 µs.
	pieceBytes = 16 << 10
	yieldBytes = 8 << 10
	// fuelPerElement is the fuel of each element of a table.
	fuelPerElement = 2
	// fuelPerPage is the fuel of each page of 64 KiB that memory.grow adds.
	fuelPerPage = 50_000
)

// shortIf is the most fuel of an if, with its else, that is charged together with
// what comes before and after it.
const shortIf = 40

// These bound how long a module runs between two checks of the fuel.
const (
	// longestBlock is the most fuel of a block. Longer blocks are divided.
	longestBlock = 4096
	// uncheckedFuel is the most fuel of successive blocks without a check.
	uncheckedFuel = 8192
	// longestTouches is the most touches of memory in a block. uncheckedTouches is
	// the most in successive blocks without a check. See touches.
	longestTouches   = 32
	uncheckedTouches = 32
	// uncheckedReturn is the most fuel without a check after a call that may have
	// been deep, if no memory is touched. When a recursion returns, each of a
	// thousand calls may use that much.
	uncheckedReturn = 64
)

// touches are the weights of the page faults that an instruction may cause, by its
// class, if it is the first to touch its pages. A fault takes 0.5 µs for a read and
// 2 µs for a write, and no fuel is charged for it. A load or store may cross two
// pages. A range that is not processed in pieces lies in up to 3 pages, or is
// copied from 3 to 3.
var touches = [module.Bulk + 1]uint32{
	module.Load:  1,
	module.Store: 2,
	module.Bulk:  6,
}

// maxSets is the most variables that a loop may set for look to detach them, see
// rewriting.detach.
const maxSets = 32

// These are frame sizes, in bytes of the stack's budget.
const (
	// slot is the size of an operand or local variable of at most 64 bits. wideSlot
	// is that of each in a function that uses vectors.
	slot     = 8
	wideSlot = 16
	// smallLeaf is the largest frame of a function without calls that is not
	// charged.
	smallLeaf = 16 << 10
)

// MinFrame is the least that a call takes from the stack's budget. So a recursion
// ends after at most StackBudget/MinFrame calls.
const MinFrame = 1 << 10

// StackBudget is how many bytes of stack all nested calls together may use: at most
// 1024 calls.
const StackBudget = 1 << 20

func weight(info *module.Info) uint32 { return weights[info.Class] }
