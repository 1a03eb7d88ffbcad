// Package surface tests the parts of the product besides its API that others read: the messages and
// keys of its log.
//
// Comes in: the source of the product. Goes out: nothing. It owns no goroutine. Its tests compare
// with testdata, which -update rewrites.
package surface
