package baidustd

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// vector is one case of contract/vectors/baidu_std.json.
type vector struct {
	Name string `json:"name"`
	Meta struct {
		Service         *string `json:"service"`
		Method          *string `json:"method"`
		ErrorCode       int32   `json:"error_code"`
		ErrorText       string  `json:"error_text"`
		Compression     int32   `json:"compression"`
		CorrelationID   int64   `json:"correlation_id"`
		AttachmentBytes int32   `json:"attachment_bytes"`
	} `json:"meta"`
	Message    string `json:"message"`    // hexadecimal
	Attachment string `json:"attachment"` // hexadecimal
	Frame      string `json:"frame"`      // hexadecimal
	ReadOnly   bool   `json:"read_only"`
}

func (v vector) meta() Meta {
	m := Meta{
		ErrorCode: v.Meta.ErrorCode, ErrorText: []byte(v.Meta.ErrorText), Compression: v.Meta.Compression,
		CorrelationID: v.Meta.CorrelationID, AttachmentBytes: v.Meta.AttachmentBytes,
	}
	if v.Meta.Service != nil {
		m.Service = []byte(*v.Meta.Service)
	}
	if v.Meta.Method != nil {
		m.Method = []byte(*v.Meta.Method)
	}
	return m
}

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return b
}

// The C++ codec (native/baidu) runs the same vectors.
func TestFramesFollowTheVectors(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "contract", "vectors", "baidu_std.json"))
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		MaxBody   int64    `json:"max_body"`
		Frames    []vector `json:"frames"`
		Malformed []struct {
			Name  string `json:"name"`
			Bytes string `json:"bytes"`
		} `json:"malformed"`
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors.Frames) == 0 || len(vectors.Malformed) == 0 {
		t.Fatal("no vectors")
	}
	for _, v := range vectors.Frames {
		t.Run(v.Name, func(t *testing.T) { v.check(t, vectors.MaxBody) })
	}
	for _, v := range vectors.Malformed {
		r := NewReader(bytes.NewReader(unhex(t, v.Bytes)), 16, vectors.MaxBody)
		if f, err := r.Next(); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %+v, %v, want it refused as malformed", v.Name, f, err)
		}
	}
}

// check reads the frame, and writes it too unless the vector is one that we only read.
func (v vector) check(t *testing.T, maxBody int64) {
	frame, message, attachment, m := unhex(t, v.Frame), unhex(t, v.Message), unhex(t, v.Attachment), v.meta()
	if !v.ReadOnly {
		written := append(AppendHead(nil, &m), message...)
		if err := Seal(written, &m); err != nil {
			t.Fatal(err)
		}
		if written = append(written, attachment...); !bytes.Equal(written, frame) {
			t.Errorf("written as %x", written)
		}
	}
	f, err := NewReader(bytes.NewReader(frame), 16, maxBody).Next()
	if err != nil {
		t.Fatal(err)
	}
	_, metaBytes, err := sizes(frame[:headerSize], maxBody)
	if err != nil {
		t.Fatal(err)
	}
	same(t, m, judged(frame[headerSize:headerSize+metaBytes]))
	same(t, f.Meta, judged(frame[headerSize:headerSize+metaBytes]))
	if (f.Meta.Service == nil) != (m.Service == nil) || !bytes.Equal(f.Message, message) || !bytes.Equal(f.Attachment, attachment) {
		t.Errorf("read %+v", f)
	}
}
