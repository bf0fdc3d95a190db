package stopwatt

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
)

// The histogram's shape: three significant decimal digits from 1 µs to 60 s,
// the bucket layout of HdrHistogram (hdrhistogram.org), so that its encoded
// form can be read by anybody's HdrHistogram.
const (
	histogramDigits  = 3
	histogramLowest  = 1_000          // ns
	histogramHighest = 60_000_000_000 // ns

	unitMagnitude  = 9    // floor(log2(histogramLowest))
	subBuckets     = 2048 // the power of two that tells 3 digits apart: 2 × 10^3, rounded up
	subBucketsHalf = subBuckets / 2
	subBucketBits  = 11
	histogramLen   = 18 * subBucketsHalf // 17 buckets reach 60 s; the first has two halves
)

// A Histogram keeps latencies, in nanoseconds, to three significant digits.
// Recording allocates nothing; histograms of one trial's threads, or of many
// trials, can be merged. The zero value is empty and ready.
type Histogram struct {
	counts [histogramLen]int64
	total  int64
	sum    int64
	min    int64
	max    int64
}

// Record adds one latency. What is beyond 60 s is counted in the last bucket,
// what is negative in the first; Max keeps the exact largest.
func (h *Histogram) Record(ns int64) {
	ns = max(ns, 0)
	h.counts[bucketOf(min(ns, histogramHighest))]++
	if h.total == 0 || ns < h.min {
		h.min = ns
	}
	h.max = max(h.max, ns)
	h.total++
	h.sum += ns
}

// bucketOf is the index of the bucket that holds a value.
func bucketOf(ns int64) int {
	bucket := 64 - bits.LeadingZeros64(uint64(ns)|(subBuckets-1)<<unitMagnitude) - unitMagnitude - subBucketBits
	sub := int(ns >> (bucket + unitMagnitude))
	return bucket*subBucketsHalf + sub
}

// highestIn is the largest value that falls into the bucket of this index.
func highestIn(index int) int64 {
	bucket := max(index/subBucketsHalf-1, 0)
	sub := index - bucket*subBucketsHalf
	return int64(sub+1)<<(bucket+unitMagnitude) - 1
}

// Merge adds everything that other has recorded.
func (h *Histogram) Merge(other *Histogram) {
	if other == nil || other.total == 0 {
		return
	}
	for i, n := range other.counts {
		h.counts[i] += n
	}
	if h.total == 0 || other.min < h.min {
		h.min = other.min
	}
	h.max = max(h.max, other.max)
	h.total += other.total
	h.sum += other.sum
}

// Count is how many latencies were recorded.
func (h *Histogram) Count() int64 { return h.total }

// Max is the largest latency in nanoseconds, 0 when there is none. It is exact
// until the histogram has been encoded and decoded, then exact to its bucket.
func (h *Histogram) Max() int64 { return h.max }

// Min is the smallest latency in nanoseconds, 0 when there is none.
func (h *Histogram) Min() int64 { return h.min }

// Mean is the mean latency in nanoseconds, 0 when there is none.
func (h *Histogram) Mean() float64 {
	if h.total == 0 {
		return 0
	}
	return float64(h.sum) / float64(h.total)
}

// Quantile is the value in nanoseconds at or below which the share q (0 to 1)
// of all latencies lie, exact to the bucket and never above Max.
func (h *Histogram) Quantile(q float64) int64 {
	if h.total == 0 {
		return 0
	}
	rank := max(int64(math.Ceil(q*float64(h.total))), 1)
	seen := int64(0)
	for i, n := range h.counts {
		seen += n
		if seen >= rank {
			return min(highestIn(i), h.max)
		}
	}
	return h.max
}

// Cookies of HdrHistogram's V2 encoding, bare and compressed; 0x10 says that
// counts are ZigZag LEB128 of up to 8 bytes.
const (
	hdrCookie           = 0x1c849303 | 0x10
	hdrCookieCompressed = 0x1c849304 | 0x10
	hdrHeaderBytes      = 40
)

// AppendBinary appends the histogram in HdrHistogram's V2 form, which is not
// compressed. It allocates nothing where to has room.
func (h *Histogram) AppendBinary(to []byte) ([]byte, error) {
	start := len(to)
	to = append(to, make([]byte, hdrHeaderBytes)...)
	to = appendCounts(to, h.counts[:h.used()])
	header := to[start:]
	binary.BigEndian.PutUint32(header[0:], hdrCookie)
	binary.BigEndian.PutUint32(header[4:], uint32(len(header)-hdrHeaderBytes))
	binary.BigEndian.PutUint32(header[8:], 0) // normalizing index offset
	binary.BigEndian.PutUint32(header[12:], histogramDigits)
	binary.BigEndian.PutUint64(header[16:], histogramLowest)
	binary.BigEndian.PutUint64(header[24:], histogramHighest)
	binary.BigEndian.PutUint64(header[32:], math.Float64bits(1)) // integer to double ratio
	return to, nil
}

// MarshalBinary encodes the histogram as HdrHistogram's compressed V2 form.
func (h *Histogram) MarshalBinary() ([]byte, error) {
	plain, err := h.AppendBinary(nil)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.Write(make([]byte, 8))
	z := zlib.NewWriter(&out)
	if _, err := z.Write(plain); err != nil {
		return nil, fmt.Errorf("compress histogram: %w", err)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("compress histogram: %w", err)
	}
	encoded := out.Bytes()
	binary.BigEndian.PutUint32(encoded[0:], hdrCookieCompressed)
	binary.BigEndian.PutUint32(encoded[4:], uint32(len(encoded)-8))
	return encoded, nil
}

// used is how many counts there are up to the last that is not 0.
func (h *Histogram) used() int {
	for i := len(h.counts); i > 0; i-- {
		if h.counts[i-1] != 0 {
			return i
		}
	}
	return 0
}

// appendCounts encodes counts as signed varints: n latencies, or -n empty
// buckets in a row.
func appendCounts(to []byte, counts []int64) []byte {
	empty := int64(0)
	for _, n := range counts {
		if n == 0 {
			empty++
			continue
		}
		if empty > 0 {
			to = binary.AppendVarint(to, -empty)
			empty = 0
		}
		to = binary.AppendVarint(to, n)
	}
	return to
}

// errHistogram says that bytes are no histogram of ours.
var errHistogram = errors.New("not a histogram of stopwatt's shape in HdrHistogram's V2 encoding")

// UnmarshalBinary decodes what MarshalBinary or AppendBinary made. Sum and
// extremes are then exact to their buckets. It reads no more than a histogram
// can hold.
func (h *Histogram) UnmarshalBinary(encoded []byte) error {
	if len(encoded) >= hdrHeaderBytes && ourShape(encoded) {
		return h.decode(encoded[hdrHeaderBytes:])
	}
	if len(encoded) < 8 || binary.BigEndian.Uint32(encoded) != hdrCookieCompressed {
		return errHistogram
	}
	z, err := zlib.NewReader(bytes.NewReader(encoded[8:]))
	if err != nil {
		return errHistogram
	}
	defer z.Close() // a reader over memory: nothing to lose
	const largest = hdrHeaderBytes + histogramLen*binary.MaxVarintLen64
	plain, err := io.ReadAll(io.LimitReader(z, largest))
	if err != nil || len(plain) < hdrHeaderBytes || !ourShape(plain) {
		return errHistogram
	}
	return h.decode(plain[hdrHeaderBytes:])
}

// ourShape tells whether a decoded header describes a histogram like ours.
func ourShape(header []byte) bool {
	return binary.BigEndian.Uint32(header) == hdrCookie &&
		binary.BigEndian.Uint32(header[12:]) == histogramDigits &&
		binary.BigEndian.Uint64(header[16:]) == histogramLowest &&
		binary.BigEndian.Uint64(header[24:]) == histogramHighest
}

// decode fills the histogram from the counts of an encoded one.
func (h *Histogram) decode(counts []byte) error {
	*h = Histogram{}
	for at := 0; len(counts) > 0; {
		n, size := binary.Varint(counts)
		if size <= 0 {
			return errHistogram
		}
		counts = counts[size:]
		if n < 0 {
			if n < -histogramLen {
				return errHistogram
			}
			at += int(-n)
			continue
		}
		if at >= histogramLen || n > (math.MaxInt64-h.sum)/highestIn(at) {
			*h = Histogram{} // half of one, or one that counts more than there can be
			return errHistogram
		}
		if n > 0 {
			h.add(at, n)
		}
		at++
	}
	return nil
}

// add counts n latencies in the bucket of this index, at its middle.
func (h *Histogram) add(index int, n int64) {
	top := highestIn(index)
	width := int64(1) << (max(index/subBucketsHalf-1, 0) + unitMagnitude)
	h.counts[index] += n
	if h.total == 0 {
		h.min = top - width + 1
	}
	h.max = top
	h.total += n
	h.sum += n * (top - width/2)
}

// MarshalText is MarshalBinary in base64, so that a histogram can stand in JSON.
func (h *Histogram) MarshalText() ([]byte, error) {
	encoded, err := h.MarshalBinary()
	return []byte(base64.StdEncoding.EncodeToString(encoded)), err
}

// UnmarshalText decodes what MarshalText made.
func (h *Histogram) UnmarshalText(text []byte) error {
	encoded, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil {
		return errHistogram
	}
	return h.UnmarshalBinary(encoded)
}
