// Burn uses a known amount of CPU time and memory, says how much the kernel
// counted for it, and waits until its standard input ends, for its counters
// are gone when it is.
package main

import (
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

const (
	burnt   = 300 * time.Millisecond
	touched = 64 << 20
)

func main() {
	start := used()
	block := make([]byte, touched)
	for i := 0; i < len(block); i += 4096 {
		block[i] = 1
	}
	sum := byte(0)
	for used()-start < burnt {
		for i := range 100_000 {
			sum += block[i]
		}
	}
	fmt.Println((used() - start).Nanoseconds(), len(block))
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(int(block[sum] & 2)) // the block lives until here
}

// used is the CPU time of this process.
func used() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
