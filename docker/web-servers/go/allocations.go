package main

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	maxArrays = 16
	lineWords = 16 // 64 bytes: every cache line of an array is touched, and no word more than that.
)

// varyingAllocations allocates the n arrays of the query n=N, of 4 to 260 KiB each, holds them all, and leaves them to the
// garbage collector.
func varyingAllocations(query string, _ []byte) []byte {
	n, ok := arrayCount(query)
	if !ok {
		return nil
	}
	arrays := make([][]uint32, 0, n)
	state, words := n, uint32(0)
	for range n {
		state = state*1664525 + 1013904223 // the generator of Numerical Recipes, for sizes that look random
		array := make([]uint32, 1024+state>>16)
		for i := 0; i < len(array); i += lineWords {
			array[i] = state ^ uint32(i)
		}
		words += uint32(len(array))
		arrays = append(arrays, array)
	}
	checksum := uint32(0)
	for _, array := range arrays {
		for i := 0; i < len(array); i += lineWords {
			checksum = checksum*31 + array[i]
		}
	}
	return fmt.Appendf(nil, "arrays=%d words=%d checksum=%08x\n", n, words, checksum)
}

// arrayCount reads n=1 to n=16.
func arrayCount(query string) (n uint32, ok bool) {
	digits, found := strings.CutPrefix(query, "n=")
	if !found || len(digits) > 2 {
		return 0, false
	}
	value, err := strconv.ParseUint(digits, 10, 32)
	return uint32(value), err == nil && 1 <= value && value <= maxArrays
}
