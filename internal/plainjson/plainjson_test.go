package plainjson

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"
)

type inner struct {
	N int64  `json:"n,omitempty"`
	S string `json:"s"`
}

type outer struct {
	inner
	At    time.Time        `json:"at"`
	Few   []inner          `json:"few"`
	Next  *outer           `json:"next"`
	Three [3]float64       `json:"three"`
	Big   uint64           `json:"big"`
	Of    map[string]int64 `json:"of"`
	Any   map[string]any   `json:"any"`
	Yes   bool             `json:"yes"`
	Bytes []byte           `json:"bytes"`
	Left  int              `json:"-"`
}

func reads(text string) (v outer, ok bool) {
	ok = For[outer](func(text []byte, to any) error { return json.Unmarshal(text, to) }).Read([]byte(text), &v)
	return v, ok
}

func TestWhatEncodingJSONWritesIsRead(t *testing.T) {
	few := []inner{}
	for i := range int64(40) {
		few = append(few, inner{i, "x"})
	}
	for _, v := range []outer{
		{},
		{inner: inner{-3, "é<\\\n\""}, Few: []inner{{1, "a"}, {S: "b"}}},
		{inner: inner{7, "word"}, At: time.Unix(1e9, 5).UTC(), Few: few, Next: &outer{Few: few[:3]}, Three: [3]float64{1, -2.5e-9, 1e300}, Big: 1<<64 - 1,
			Of: map[string]int64{"a": -1, "b": 1 << 40}, Any: map[string]any{"x": []any{1.0, "y", nil, map[string]any{}}}, Yes: true, Bytes: []byte("\x00\xff")},
		{Few: []inner{}, Of: map[string]int64{}, Any: map[string]any{}, Bytes: []byte{}},
	} {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if back, ok := reads(string(text)); !ok || !reflect.DeepEqual(back, v) {
			t.Errorf("%s is read as %+v, %v", text, back, ok)
		}
	}
}

func TestAnythingElseIsLeftToAGeneralDecoder(t *testing.T) {
	for _, text := range []string{
		``, `{`, `{}x`, `{ }`, `{"n":1,"n":1}`, `{"s":"","n":1}`, `{"N":1}`, `{"n":01}`, `{"n":1.0}`, `{"n":-0}`, `{"n":1e1}`, `{"n":}`, `{"n":12345678901234567890}`,
		`{"s":"\x"}`, "{\"s\":\"\n\"}", `{"s":"a}`, `{"s":"\`, `{"three":[1,2]}`, `{"three":[1,2,3,4]}`, `{"three":[1.,2,3]}`, `{"three":[-,2,3]}`, `{"three":[1e999,2,3]}`, `{"three":[.5,2,3]}`,
		`{"big":-1}`, `{"of":{"a":1,"a":2}}`, `{"of":{"a":1,}}`, `{"few":[{"n":1}`, `{"few":[,]}`, `{"yes":1}`, `{"at":5}`, `{"any":{"a":[1}}`, `{"next":nul}`,
	} {
		if v, ok := reads(text); ok {
			t.Errorf("%s is read as %+v", text, v)
		}
	}
}

func TestAReaderKeepsNothingOfWhatFailed(t *testing.T) {
	r := For[outer](func([]byte, any) error { return errors.New("no general decoder") })
	var v outer
	if r.Read([]byte(`{"few":[{"n":5,"s":"left"},{"n":x`), &v) {
		t.Fatal("broken text is read")
	}
	v = outer{}
	if !r.Read([]byte(`{"few":[{"s":"a"},{"s":"b"}]}`), &v) || v.Few[0].N != 0 || len(v.Few) != 2 {
		t.Errorf("read %+v after text that failed", v)
	}
}

func TestATypeMayHoldItself(t *testing.T) {
	if v, ok := reads(`{"few":[{"s":"a"}],"next":{"few":[{"n":2}],"next":{"yes":true}}}`); !ok || !v.Next.Next.Yes || v.Next.Few[0].N != 2 || v.Few[0].S != "a" {
		t.Errorf("read %+v, %v", v, ok)
	}
}
