package contract

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"netdyno/internal/hist"
)

var update = flag.Bool("update", false, "rewrite contract/vectors/hist.json and contract/contract.schema.json")

// histVector is one entry of contract/vectors/hist.json.
type histVector struct {
	Name    string     `json:"name"`
	Values  [][2]int64 `json:"values"` // ns, count
	Encoded string     `json:"encoded"`
	Payload string     `json:"payload"` // hexadecimal, inflated
}

// The cases walk along the edges of the layout: the last value of the linear
// part, the first of each width, zero runs of one and of many, counts that
// need one to five bytes of LEB128.
var histCases = []histVector{
	{Name: "empty"},
	{Name: "one nanosecond, once", Values: [][2]int64{{1, 1}}},
	{Name: "zero", Values: [][2]int64{{0, 3}}},
	{Name: "edges of the linear part", Values: [][2]int64{{1023, 1}, {1024, 1}, {2046, 1}, {2047, 2}, {2048, 3}, {2049, 4}, {4095, 5}, {4096, 6}}},
	{Name: "one zero, two zeros, three zeros between", Values: [][2]int64{{1, 1}, {3, 1}, {6, 1}, {10, 1}}},
	{Name: "counts around the steps of LEB128", Values: [][2]int64{{10, 63}, {11, 64}, {12, 8191}, {13, 8192}, {14, 1 << 20}, {15, 1 << 27}, {16, 1 << 34}}},
	{Name: "microseconds to seconds", Values: [][2]int64{{25_000, 900}, {31_000, 90}, {1_200_000, 9}, {40_000_000, 1}, {3_000_000_000, 1}}},
	{Name: "the largest value", Values: [][2]int64{{hist.MaxNs, 1}}},
	{Name: "one below the largest value", Values: [][2]int64{{1, 1}, {hist.MaxNs - 1, 7}}},
}

func histVectorPath() string { return filepath.Join("..", "..", "contract", "vectors", "hist.json") }

func TestHistogramVectors(t *testing.T) {
	if *update {
		writeHistVectors(t)
	}
	text, err := os.ReadFile(histVectorPath())
	if err != nil {
		t.Fatal(err)
	}
	var vectors []histVector
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) != len(histCases) {
		t.Fatalf("hist.json has %d vectors, expected %d: run go test ./internal/contract -update", len(vectors), len(histCases))
	}
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			if got := inflate(t, encodeValues(t, v.Values)); got != v.Payload {
				t.Errorf("payload %s, expected %s", got, v.Payload)
			}
			if got := inflate(t, v.Encoded); got != v.Payload {
				t.Errorf("encoded carries %s, expected %s", got, v.Payload)
			}
			h, err := hist.Decode(v.Encoded)
			if err != nil {
				t.Fatal(err)
			}
			var n int64
			for _, value := range v.Values {
				n += value[1]
			}
			if h.Count() != n {
				t.Errorf("decoded %d values, expected %d", h.Count(), n)
			}
		})
	}
}

func writeHistVectors(t *testing.T) {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("[\n")
	for i, v := range histCases {
		v.Encoded = encodeValues(t, v.Values)
		v.Payload = inflate(t, v.Encoded)
		if v.Values == nil {
			v.Values = [][2]int64{}
		}
		line, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		comma := ","
		if i == len(histCases)-1 {
			comma = ""
		}
		fmt.Fprintf(&b, "  %s%s\n", line, comma)
	}
	b.WriteString("]\n")
	if err := os.WriteFile(histVectorPath(), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func encodeValues(t *testing.T, values [][2]int64) string {
	t.Helper()
	h := hist.New()
	for _, v := range values {
		h.Record(v[0], v[1])
	}
	text, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// inflate undoes the outer layers of the encoding: base64, the 8-byte header,
// zlib.
func inflate(t *testing.T, encoded string) string {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(b) < 8 {
		t.Fatalf("decode %q: %v", encoded, err)
	}
	z, err := zlib.NewReader(bytes.NewReader(b[8:]))
	if err != nil {
		t.Fatal(err)
	}
	payload, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(payload)
}
