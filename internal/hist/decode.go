package hist

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// Decode reads Encode's text. Empty text is an empty histogram.
//
// Reading a large run is for the most part decoding histograms, which hold a few
// hundred values among 30,000 places. So the steps are read straight from the text
// where it is whole and of netdyno's own geometry; the library has the word on
// everything else, and on what is wrong with it.
func Decode(text string) (*Histogram, error) {
	if text == "" {
		return New(), nil
	}
	if h, ok := decodeSteps(text); ok {
		return h, nil
	}
	h, err := hdr.Decode([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("decode histogram: %w", err)
	}
	return &Histogram{filled: h}, nil
}

// The V2 encoding: base64 of an envelope of a cookie and a length, around a
// deflated header of ten 32-bit words and its payload.
//
// Source: HdrHistogram, AbstractHistogram.java, encodeIntoCompressedByteBuffer.
const (
	envelopeBytes = 8
	headerBytes   = 40
	wordMark      = 0x10 // in a cookie: of words as wide as they need be
)

// ownHeader is the header of a histogram of netdyno's geometry, the payload's
// length aside.
var ownHeader = func() [headerBytes]byte {
	var b [headerBytes]byte
	binary.BigEndian.PutUint32(b[0:], uint32(hdr.V2EncodingCookieBase|wordMark))
	binary.BigEndian.PutUint32(b[12:], Digits)
	binary.BigEndian.PutUint64(b[16:], MinNs)
	binary.BigEndian.PutUint64(b[24:], MaxNs)
	binary.BigEndian.PutUint64(b[32:], math.Float64bits(1))
	return b
}()

// inflater is what decoding needs and may use again.
type inflater struct {
	reader  io.ReadCloser // nil before its first use
	packed  []byte
	payload bytes.Buffer
	steps   Steps
}

var inflaters = sync.Pool{New: func() any { return new(inflater) }}

// decodeSteps reads the steps of a histogram of netdyno's geometry; false for any
// other text.
func decodeSteps(text string) (*Histogram, bool) {
	in := inflaters.Get().(*inflater)
	defer inflaters.Put(in)
	packed, err := base64.StdEncoding.AppendDecode(in.packed[:0], []byte(text))
	in.packed = packed
	if err != nil || len(packed) < envelopeBytes || binary.BigEndian.Uint32(packed) != uint32(hdr.V2CompressedEncodingCookieBase|wordMark) {
		return nil, false
	}
	if n := binary.BigEndian.Uint32(packed[4:]); uint64(n) != uint64(len(packed)-envelopeBytes) {
		return nil, false
	}
	if !in.inflate(packed[envelopeBytes:]) {
		return nil, false
	}
	content := in.payload.Bytes()
	if len(content) < headerBytes {
		return nil, false
	}
	header, payload := ownHeader, content[headerBytes:]
	binary.BigEndian.PutUint32(header[4:], uint32(len(payload)))
	if !bytes.Equal(header[:], content[:headerBytes]) {
		return nil, false
	}
	return in.stepsOf(payload)
}

// inflate fills the payload; false for what is damaged, or longer than any
// histogram of this geometry.
func (in *inflater) inflate(packed []byte) bool {
	const longest = headerBytes + 9*countsLen
	source := bytes.NewReader(packed)
	var err error
	if in.reader == nil {
		in.reader, err = zlib.NewReader(source)
	} else {
		err = in.reader.(zlib.Resetter).Reset(source, nil)
	}
	if err != nil {
		return false
	}
	in.payload.Reset()
	n, err := in.payload.ReadFrom(io.LimitReader(in.reader, longest+1))
	return err == nil && n <= longest
}

// stepsOf reads a payload: counts in the order of the places, a negative one for
// as many places that hold nothing, each zigzagged and in as many bytes as it needs.
func (in *inflater) stepsOf(payload []byte) (*Histogram, bool) {
	const widest = 8 // bytes of a count that has the common form
	h, at := New(), int64(0)
	in.steps = in.steps[:0]
	for len(payload) > 0 {
		zigzag, n := binary.Uvarint(payload)
		if n <= 0 || n > widest {
			return nil, false
		}
		payload = payload[n:]
		count := int64(zigzag>>1) ^ -int64(zigzag&1)
		if count < 0 {
			at -= count
			continue
		}
		if at >= countsLen || count > math.MaxInt64-h.count {
			return nil, false
		}
		if count > 0 {
			in.steps = append(in.steps, step{valueAt(int(at)), valueAt(int(at+1)) - 1, count})
			h.count += count
		}
		at++
	}
	h.steps = slices.Clone(in.steps)
	return h, at <= countsLen
}
