// Command blake2b hashes the JSON and the YAML document of this folder eight times by BLAKE2b, and checks the hash function against
// the example in RFC 7693, appendix A.
package main

import (
	"encoding/hex"
	"fmt"
	"os"

	"golang.org/x/crypto/blake2b"

	"wasm/input"
)

// times is the number in the published experiment.
const times = 8

// abc is the hash of "abc" as the RFC gives it.
const abc = "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1" +
	"7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923"

func main() {
	if known := blake2b.Sum512([]byte("abc")); hex.EncodeToString(known[:]) != abc {
		fail("the hash of abc is wrong")
	}
	first := hash()
	for range times - 1 {
		if hash() != first {
			fail("the same input has two hashes")
		}
	}
	fmt.Printf("blake2b %d times %d bytes, %x\n", times, len(input.JSON)+len(input.YAML), first)
}

func hash() (sum [blake2b.Size]byte) {
	hasher, err := blake2b.New512(nil)
	if err != nil {
		fail(err.Error())
	}
	hasher.Write(input.JSON)
	hasher.Write(input.YAML)
	hasher.Sum(sum[:0])
	return sum
}

func fail(why string) {
	fmt.Fprintln(os.Stderr, "blake2b:", why)
	os.Exit(1)
}
