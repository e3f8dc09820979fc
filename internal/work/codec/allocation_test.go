package codec

import (
	"encoding/json"
	"fmt"
	"testing"

	"google.golang.org/protobuf/proto"
)

// twenty is about what comes down with message=complex.
var twenty = func() string {
	fields := map[string]string{}
	for i := range 20 {
		fields[fmt.Sprintf("replyValue%d", i+1)] = "TGV 9203 leaves Basel SBB at 08:34, arrives 13:40, change in Bern."
	}
	encoded, _ := json.Marshal(fields)
	return string(encoded)
}()

// An exchange allocates what its library allocates, and nothing beside.
func TestAnExchangeAddsNoAllocations(t *testing.T) {
	for _, c := range Standard() {
		x, err := New(structured(c.Name()), Standard())
		if err != nil {
			t.Fatal(err)
		}
		request, _ := x.Request(nil)
		reply, _ := x.Respond(nil, request)
		buf := make([]byte, 0, 4096)
		for _, pair := range []struct {
			name      string
			ours, own func()
		}{
			{"request", func() { _, _ = x.Request(buf) }, func() { _ = bareEncode(buf, x.Up.Content) }},
			{"accept", func() { _ = x.Accept(reply) }, func() { _ = bareDecode(reply, x.Down.New()) }},
			{"respond", func() { _, _ = x.Respond(buf, request) }, func() {
				_ = bareDecode(request, x.Up.New())
				_ = bareEncode(buf, x.Down.Content)
			}},
		} {
			if ours, own := testing.AllocsPerRun(200, pair.ours), testing.AllocsPerRun(200, pair.own); ours > own || own == 0 && pair.name != "request" {
				t.Errorf("%s %s: %v allocations, of the library %v", c.Name(), pair.name, ours, own)
			}
		}
	}
}

// bareEncode and bareDecode are the libraries' own calls.
func bareEncode(buf []byte, message any) error {
	if m, ok := message.(proto.Message); ok {
		_, err := proto.MarshalOptions{}.MarshalAppend(buf, m)
		return err
	}
	_, err := json.Marshal(message)
	return err
}

func bareDecode(data []byte, message any) error {
	if m, ok := message.(proto.Message); ok {
		return proto.Unmarshal(data, m)
	}
	return json.Unmarshal(data, message)
}
