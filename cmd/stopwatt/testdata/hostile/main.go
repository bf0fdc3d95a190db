// Command hostile is code under test that means harm. Its first argument says which; what
// it reaches although it should not, it tells.
package main

import (
	"fmt"
	"os"
)

func main() {
	mode, rest := os.Args[1], os.Args[2:]
	if serve, is := servers[mode]; is {
		serve(rest)
		return
	}
	if program, is := programs[mode]; is {
		os.Exit(program(rest))
	}
	fmt.Fprintln(os.Stderr, "cannot", mode)
	os.Exit(2)
}
