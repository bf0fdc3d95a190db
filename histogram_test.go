package stopwatt_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"gitlab.com/stopwatt/stopwatt"
)

// drawn records the same latencies in our histogram and in the oracle's.
func drawn(t *testing.T, seed uint64, n int) (*stopwatt.Histogram, *hdr.Histogram) {
	t.Helper()
	ours, oracle := new(stopwatt.Histogram), hdr.New(1_000, 60_000_000_000, 3)
	random := rand.New(rand.NewPCG(seed, 1))
	for range n {
		ns := int64(random.ExpFloat64() * 1e6 * float64(1+random.IntN(1000)))
		ours.Record(ns)
		if err := oracle.RecordValue(min(ns, 60_000_000_000)); err != nil {
			t.Fatal(err)
		}
	}
	return ours, oracle
}

func TestHistogramAgreesWithHdrHistogram(t *testing.T) {
	for seed := range uint64(20) {
		ours, oracle := drawn(t, seed, 10_000)
		for _, q := range []float64{0.01, 0.5, 0.9, 0.99, 0.999, 0.9999, 1} {
			want := oracle.ValueAtQuantile(q * 100)
			if got := ours.Quantile(q); got > want || float64(got) < float64(want)*0.999 {
				t.Errorf("seed %d: quantile %v is %d, the oracle says %d", seed, q, got, want)
			}
		}
	}
}

func TestHistogramIsReadByAnotherHdrHistogram(t *testing.T) {
	ours, oracle := drawn(t, 7, 10_000)
	text, err := ours.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	read, err := hdr.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	if !read.Equals(oracle) {
		t.Error("what another HdrHistogram reads from our encoding is not what was recorded")
	}
	theirs, err := oracle.Encode(hdr.V2CompressedEncodingCookieBase)
	if err != nil {
		t.Fatal(err)
	}
	var back stopwatt.Histogram
	if err := back.UnmarshalText(theirs); err != nil {
		t.Fatal(err)
	}
	if back.Count() != ours.Count() || back.Quantile(0.99) != ours.Quantile(0.99) {
		t.Errorf("read back %d latencies with p99 %d, want %d with %d", back.Count(), back.Quantile(0.99), ours.Count(), ours.Quantile(0.99))
	}
}

func TestHistogramMergesAndNeverAllocates(t *testing.T) {
	a, _ := drawn(t, 1, 1_000)
	b, _ := drawn(t, 2, 1_000)
	both := new(stopwatt.Histogram)
	both.Merge(a)
	both.Merge(b)
	both.Merge(new(stopwatt.Histogram))
	if both.Count() != 2_000 || both.Max() != max(a.Max(), b.Max()) || both.Min() != min(a.Min(), b.Min()) {
		t.Errorf("merged: count %d, min %d, max %d", both.Count(), both.Min(), both.Max())
	}
	if n := testing.AllocsPerRun(100, func() { both.Record(123_456) }); n != 0 {
		t.Errorf("recording allocates %v times", n)
	}
}

func TestHistogramKeepsWhatLiesBeyondItsRange(t *testing.T) {
	var h stopwatt.Histogram
	h.Record(-5)
	h.Record(100_000_000_000)
	if h.Count() != 2 || h.Min() != 0 || h.Max() != 100_000_000_000 {
		t.Errorf("count %d, min %d, max %d", h.Count(), h.Min(), h.Max())
	}
}

func FuzzHistogramUnmarshal(f *testing.F) {
	var h stopwatt.Histogram
	h.Record(5_000)
	encoded, _ := h.MarshalBinary()
	f.Add(encoded)
	text, _ := h.MarshalText()
	f.Add(text)
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, decode := range []func(*stopwatt.Histogram, []byte) error{(*stopwatt.Histogram).UnmarshalBinary, (*stopwatt.Histogram).UnmarshalText} {
			var h stopwatt.Histogram
			err := decode(&h, data)
			middle, mean := h.Quantile(0.5), h.Mean()
			if err != nil && h.Count() != 0 || h.Count() < 0 || h.Min() < 0 || middle < h.Min() || middle > h.Max() || !(mean >= 0 && mean <= float64(h.Max())) {
				t.Errorf("%d latencies from %d to %d, median %d, mean %v, %v", h.Count(), h.Min(), h.Max(), middle, mean, err)
			}
		}
	})
}

// histogramOf is the head of a histogram that is not compressed, with these numbers
// behind it.
func histogramOf(t *testing.T, counts ...int64) []byte {
	t.Helper()
	head, err := new(stopwatt.Histogram).AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range counts {
		head = binary.AppendVarint(head, n)
	}
	return head
}

func TestAHistogramThatCountsTooMuchIsNone(t *testing.T) {
	t.Parallel()
	var h stopwatt.Histogram
	if err := h.UnmarshalBinary(histogramOf(t, 0, -1, 7)); err != nil || h.Count() != 7 || h.Min() == 0 {
		t.Errorf("with an empty bucket before: %d from %d, %v", h.Count(), h.Min(), err)
	}
	for _, counts := range [][]int64{{1, math.MaxInt64}, {-2000, math.MaxInt64 / 2}} {
		if err := h.UnmarshalBinary(histogramOf(t, counts...)); err == nil || h.Count() != 0 {
			t.Errorf("%d is taken for %d latencies, with a mean of %v", counts, h.Count(), h.Mean())
		}
	}
}
