package stopwatt_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

// An order with 16 MiB of input in one line took 150 MiB in the program's
// container, and a program limited to 64 MiB never began.
func TestAnInputOfAnySizeIsSaidInShortLines(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, stopwatt.StdinPiece, 16 << 20} {
		order, pieces := stopwatt.TimeOrder{Program: stopwatt.Program{Stdin: make([]byte, size)}}.Apart()
		text, err := json.Marshal(order)
		if err != nil || len(text) > 1000 || order.StdinPieces != len(pieces) || len(bytes.Join(pieces, nil)) != size {
			t.Errorf("%d bytes: %v, an order of %d bytes, %d pieces", size, err, len(text), len(pieces))
		}
		for _, piece := range pieces {
			if len(piece) > stopwatt.StdinPiece {
				t.Errorf("%d bytes: a piece of %d", size, len(piece))
			}
		}
	}
}
