package codec

import (
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"netdyno/internal/contract"
)

const vectorFile = "../../../contract/vectors/messages.json"

var update = flag.Bool("update", false, "rewrite the encodings in "+vectorFile)

// vector is a built-in message in JSON and in protobuf's encoding, which
// workers in other languages must produce byte for byte.
type vector struct {
	Type  string          `json:"type"`
	JSON  json.RawMessage `json:"json"`
	Proto string          `json:"proto"` // hexadecimal
}

func TestBuiltInMessagesAreEncodedAsInTheVectors(t *testing.T) {
	data, err := os.ReadFile(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	if err := json.Unmarshal(data, &vectors); err != nil || len(vectors) < 5 {
		t.Fatalf("%d vectors, %v", len(vectors), err)
	}
	types, err := NewTypes(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range vectors {
		kind, err := Proto{}.Kind(types, contract.Content{Type: v.Type, JSON: string(v.JSON)})
		if err != nil {
			t.Fatal(err)
		}
		encoded, err := Encode(Proto{}, nil, kind.Content)
		if err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(encoded); got != v.Proto && !*update {
			t.Errorf("%s %s:\ngot  %s\nwant %s", v.Type, v.JSON, got, v.Proto)
		}
		vectors[i].Proto = hex.EncodeToString(encoded)
		back := kind.New()
		if err := Decode(Proto{}, encoded, back); err != nil || !kind.Same(back) {
			t.Errorf("%s %s comes back as %v (%v)", v.Type, v.JSON, back, err)
		}
	}
	if *update {
		written, err := json.MarshalIndent(vectors, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(vectorFile, append(written, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
