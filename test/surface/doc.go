// Package surface keeps what others read of the product beside its API: the messages and
// keys of its log.
//
// Comes in: the source of the product. Goes out: nothing. It owns no goroutine; its tests
// compare with testdata, which -update writes anew.
package surface
