package fastjson

import (
	"encoding/json"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
)

func kind(t *testing.T, content string) codec.Kind {
	t.Helper()
	types, err := codec.NewTypes(nil)
	if err != nil {
		t.Fatal(err)
	}
	k, err := Sonic{}.Kind(types, contract.Content{Type: "netdyno.v1.Reply", JSON: content})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// encoding/json reads what sonic writes, and the other way round.
func TestSonicAndTheStandardLibraryUnderstandEachOther(t *testing.T) {
	k := kind(t, `{"replyValue1":"plain","replyValue2":"<é>","replyValue3":"\"\\\n","replyValue19":"😀","replyValue20":""}`)
	encoded, err := Sonic{}.Encode([]byte("before"), k.Content)
	if err != nil || string(encoded[:6]) != "before" {
		t.Fatalf("encoded %q, %v", encoded, err)
	}
	back := k.New()
	if err := json.Unmarshal(encoded[6:], back); err != nil || !k.Same(back) {
		t.Errorf("encoding/json reads %q as %v (%v)", encoded[6:], back, err)
	}
	standard, err := json.Marshal(k.Content)
	if err != nil {
		t.Fatal(err)
	}
	back = k.New()
	if err := (Sonic{}).Decode(standard, back); err != nil || !k.Same(back) {
		t.Errorf("sonic reads %q as %v (%v)", standard, back, err)
	}
}

// A message keeps no reference to the bytes that it was decoded from, whose
// room the next exchange takes.
func TestDecodedMessagesOutliveTheirBytes(t *testing.T) {
	k := kind(t, `{"replyValue1":"one","replyValue2":"two"}`)
	data, message := []byte(`{"replyValue1":"one","replyValue2":"two"}`), k.New()
	if err := (Sonic{}).Decode(data, message); err != nil {
		t.Fatal(err)
	}
	for i := range data {
		data[i] = 'x'
	}
	if !k.Same(message) {
		t.Errorf("the message has changed with its bytes: %v", message)
	}
}

func TestDamageIsAnError(t *testing.T) {
	k := kind(t, `{"replyValue1":"one"}`)
	for _, data := range []string{``, `{`, `{"replyValue1":"one"`, `{"replyValue1":["one"]}`, `{"replyValue1":"one"}x`} {
		if err := (Sonic{}).Decode([]byte(data), k.New()); err == nil {
			t.Errorf("%q is decoded", data)
		}
	}
}
