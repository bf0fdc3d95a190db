// Command fib calculates a Fibonacci number by recursion, the slowest way there is, and checks it by adding up.
//
//	fib [N]        by default 30; the numbers begin 1, 1, 2, 3
package main

import (
	"os"
	"strconv"
)

func main() {
	n := uint64(30)
	if len(os.Args) > 1 {
		given, err := strconv.ParseUint(os.Args[1], 10, 64)
		if err != nil || given > 40 {
			fail("fib: a whole number up to 40 is wanted")
		}
		n = given
	}
	found := recursive(n)
	if found != added(n) {
		fail("fib: recursion and addition disagree")
	}
	os.Stdout.WriteString("fib " + strconv.FormatUint(n, 10) + " = " + strconv.FormatUint(found, 10) + "\n")
}

func recursive(n uint64) uint64 {
	if n <= 1 {
		return 1
	}
	return recursive(n-1) + recursive(n-2)
}

func added(n uint64) uint64 {
	a, b := uint64(1), uint64(1)
	for range n {
		a, b = b, a+b
	}
	return a
}

func fail(why string) {
	os.Stderr.WriteString(why + "\n")
	os.Exit(1)
}
