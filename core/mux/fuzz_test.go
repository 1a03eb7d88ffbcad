package mux

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"testing/synctest"
)

// script is a source of random numbers made from a fuzzer's data. The numbers keep changing
// after the end of the data; otherwise a generator that rejects some numbers would loop for
// ever.
type script struct {
	rest  []byte
	drawn uint64
}

func (s *script) Uint64() uint64 {
	var next [8]byte
	s.rest = s.rest[copy(next[:], s.rest):]
	s.drawn++
	return binary.LittleEndian.Uint64(next[:]) + s.drawn*0x9e3779b97f4a7c15
}

// FuzzMux plays histories of documents, policies, answers and restarts. It checks the rules
// that TestWhateverHappensTheLoopHasWhatItShould checks with random histories.
func FuzzMux(f *testing.F) {
	for seed := range uint64(8) {
		random := rand.New(rand.NewPCG(seed, 2))
		var data []byte
		for range 200 {
			data = binary.LittleEndian.AppendUint64(data, random.Uint64())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		const perStep = 80 // bytes
		steps := min(len(data)/perStep, 40)
		synctest.Test(t, func(t *testing.T) { playRandom(t, rand.New(&script{rest: data}), steps) })
	})
}
