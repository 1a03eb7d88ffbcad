package attack

// bombs returns the sources, by name, of modules that are hard to compile. They were within all
// caps when they were found. The measured times are for one core of about 3 GHz.
func bombs() map[string]string {
	texts := map[string]string{}
	for name, b := range map[string]struct {
		what      string
		functions int
		function  func(s *source)
	}{
		"bomb-loops": {
			"100 loops over 1 000 variables in each function: 0.6 s for 10 KB, and 2.7 MB of it fit into a module.", 16,
			func(s *source) { s.loops(1000, 64, 36) },
		},
		"bomb-depth": {
			"2 000 loops in each other, over 48 variables: 3.4 s and a GB for 14 KB.", 2,
			func(s *source) { s.loops(48, 2000, 0) },
		},
		"bomb-depth-variables": {
			"1 000 loops in each other, over 99 variables: 1.7 s for 8 KB.", 4,
			func(s *source) { s.loops(99, 1000, 0) },
		},
		"bomb-branches": {
			"4 000 branches back to 64 loops over 1 000 variables: more than 16 s and a GiB for 43 KB.", 1,
			func(s *source) { s.branches(1000, 64, 4000) },
		},
		"bomb-branch-tables": {
			"Tables of 4 000 branches each, back to 60 loops over 1 000 variables: more than 4 s and a GiB for 57 KB.", 1,
			func(s *source) { s.branchTables(1000, 60, 14) },
		},
		"bomb-branch-tables-deep": {
			"The same, back to 1 000 loops over 40 variables: 2.8 s for 56 KB.", 2,
			func(s *source) { s.branchTables(40, 1000, 7) },
		},
		"bomb-calls": {
			"15 000 calls in a row, with 32 parameters and as many results each: a second for 30 KB.", 6,
			func(s *source) { s.calls(15_000) },
		},
	} {
		s := begin(1, b.what, "refused: AbiMismatch the module does not compile: the module is refused")
		for range b.functions {
			b.function(s)
		}
		texts[name] = s.admit("(i32.const 0)")
	}
	return texts
}

// loops writes a function of nested loops and then loops in a row, in which every variable changes.
func (s *source) loops(locals, nested, inRow int) {
	s.add("(func\n")
	s.locals(locals, "i32")
	s.repeat(nested, "loop ")
	for i := range locals {
		s.add("(local.set %d (i32.add (local.get %d) (local.get %d)))\n", i, i, (i+1)%locals)
	}
	for i := range nested {
		s.add("(br_if 0 (local.get %d)) end\n", i%locals)
	}
	for i := range inRow {
		s.add("loop (local.set %d (local.get %d)) (br_if 0 (local.get %d)) end\n", i%locals, (i+1)%locals, (i+2)%locals)
	}
	s.add(")\n")
}

// branches writes a function of nested loops, with as many branches back to them, each with other
// values of the variables.
func (s *source) branches(locals, nested, branches int) {
	s.add("(func\n")
	s.locals(locals, "i32")
	s.repeat(nested, "loop ")
	for i := range branches {
		s.add("(local.set %d (local.get %d)) (br_if %d (local.get %d))\n", i%locals, (i+1)%locals, i%nested, (i+2)%locals)
	}
	s.repeat(nested, "end ")
	s.add(")\n")
}

// branchTables writes the same with tables of branches.
func (s *source) branchTables(locals, nested, tables int) {
	const labels, sets = 4000, 10
	s.add("(func\n")
	s.locals(locals, "i32")
	s.repeat(nested, "loop ")
	for i := range tables {
		for k := range sets {
			s.add("(local.set %d (local.get %d))\n", (i*sets+k)%locals, (i*sets+k+1)%locals)
		}
		s.add("block (br_table")
		for label := range labels {
			s.add(" %d", label%(nested+1))
		}
		s.add(" 0 (local.get %d)) end\n", i)
	}
	s.repeat(nested, "end ")
	s.add(")\n")
}

// calls writes a function that passes many values to a function, n times.
func (s *source) calls(n int) {
	const values = 32
	s.add("(func (param")
	s.repeat(values, " i32")
	s.add(") (result")
	s.repeat(values, " i32")
	s.add(")\n")
	for i := range values {
		s.add("local.get %d\n", i)
	}
	s.repeat(n, "call 1 ")
	s.add(")\n")
}
