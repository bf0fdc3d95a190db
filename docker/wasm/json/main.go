// Command json decodes a large JSON document into maps and lists and encodes it again. The document is in the form that Go's encoder
// writes, so what is encoded must be what was decoded, byte for byte.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"

	"wasm/input"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "json:", err)
		os.Exit(1)
	}
}

func run() error {
	var value any
	if err := json.Unmarshal(input.JSON, &value); err != nil {
		return err
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if !bytes.Equal(encoded, input.JSON) {
		return fmt.Errorf("%d bytes encoded are not the %d bytes decoded", len(encoded), len(input.JSON))
	}
	fmt.Printf("json %d bytes, crc32 %08x\n", len(encoded), crc32.ChecksumIEEE(encoded))
	return nil
}
