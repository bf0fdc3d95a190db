// Command snappy compresses a machine's description 256 times into one stream of Snappy frames, decompresses the stream, and checks
// that what comes out is what went in.
package main

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/golang/snappy"

	"wasm/input"
)

// copies is the number in the published experiment.
const copies = 256

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "snappy:", err)
		os.Exit(1)
	}
}

func run() error {
	stream, err := compress()
	if err != nil {
		return fmt.Errorf("compress: %w", err)
	}
	size, err := check(stream)
	if err != nil {
		return fmt.Errorf("decompress: %w", err)
	}
	fmt.Printf("snappy %d bytes in %d, crc32 %08x\n", size, len(stream), crc32.ChecksumIEEE(stream))
	return nil
}

func compress() ([]byte, error) {
	var stream bytes.Buffer
	writer := snappy.NewBufferedWriter(&stream)
	for range copies {
		if _, err := writer.Write(input.CPUs); err != nil {
			return nil, err
		}
	}
	err := writer.Close()
	return stream.Bytes(), err
}

// check reads the whole stream, copy by copy, and gives its size in bytes.
func check(stream []byte) (size int, err error) {
	reader := snappy.NewReader(bytes.NewReader(stream))
	read := make([]byte, len(input.CPUs))
	for number := range copies {
		if _, err := io.ReadFull(reader, read); err != nil {
			return size, err
		}
		if !bytes.Equal(read, input.CPUs) {
			return size, fmt.Errorf("copy %d is not what was compressed", number)
		}
		size += len(read)
	}
	if _, err := reader.Read(read[:1]); err != io.EOF {
		return size, fmt.Errorf("more than %d copies", copies)
	}
	return size, nil
}
