// Command yaml decodes a set of manifests as Kubernetes takes them and encodes it again. The set is in the form that the encoder
// writes, so what is encoded must be what was decoded, byte for byte.
package main

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"os"

	"github.com/goccy/go-yaml"

	"wasm/input"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "yaml:", err)
		os.Exit(1)
	}
}

func run() error {
	var value any
	if err := yaml.Unmarshal(input.YAML, &value); err != nil {
		return err
	}
	encoded, err := yaml.Marshal(value)
	if err != nil {
		return err
	}
	if !bytes.Equal(encoded, input.YAML) {
		return fmt.Errorf("%d bytes encoded are not the %d bytes decoded", len(encoded), len(input.YAML))
	}
	fmt.Printf("yaml %d bytes, crc32 %08x\n", len(encoded), crc32.ChecksumIEEE(encoded))
	return nil
}
