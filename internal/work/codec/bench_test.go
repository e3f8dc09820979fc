package codec

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	"netdyno/internal/contract"
	"netdyno/internal/work/netdynov1"
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

// ownTypes describes the built-in messages as a user's own, in package own:
// the same content without generated code and written structs.
func ownTypes(t testing.TB) *Types {
	t.Helper()
	described := protodesc.ToFileDescriptorProto(netdynov1.File_exchange_proto)
	described.Package, described.Service = proto.String("own"), nil
	set, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{described}})
	if err != nil {
		t.Fatal(err)
	}
	types, err := NewTypes(set)
	if err != nil {
		t.Fatal(err)
	}
	return types
}

func BenchmarkCodec(b *testing.B) {
	types := ownTypes(b)
	for _, c := range Standard() {
		for _, name := range []string{"netdyno.v1.Reply", "own.Reply"} {
			kind, err := c.Kind(types, contract.Content{Type: name, JSON: twenty})
			if err != nil {
				b.Fatal(err)
			}
			data, err := Encode(c, nil, kind.Content)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(c.Name()+"/"+name+"/encode", func(b *testing.B) {
				b.ReportAllocs()
				buf := make([]byte, 0, len(data))
				for b.Loop() {
					_, _ = Encode(c, buf, kind.Content)
				}
			})
			b.Run(c.Name()+"/"+name+"/decode", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					_ = Decode(c, data, kind.New())
				}
			})
		}
	}
}

// BenchmarkOwnMessage prints what the user's own messages cost against the
// same as a built-in one: the two take turns, and the fastest turn of each
// counts, as whatever else the machine does only adds.
func BenchmarkOwnMessage(b *testing.B) {
	types := ownTypes(b)
	for _, c := range Standard() {
		b.Run(c.Name(), func(b *testing.B) {
			var kinds [2]Kind // built in, own
			for i, name := range []string{"netdyno.v1.Reply", "own.Reply"} {
				var err error
				if kinds[i], err = c.Kind(types, contract.Content{Type: name, JSON: twenty}); err != nil {
					b.Fatal(err)
				}
			}
			data, err := Encode(c, nil, kinds[0].Content)
			if err != nil {
				b.Fatal(err)
			}
			buf := make([]byte, 0, len(data))
			encode, decode := [2]time.Duration{time.Hour, time.Hour}, [2]time.Duration{time.Hour, time.Hour}
			for b.Loop() {
				for i, kind := range kinds {
					start := time.Now()
					for range 100 {
						_, _ = Encode(c, buf, kind.Content)
					}
					encoded := time.Now()
					for range 100 {
						_ = Decode(c, data, kind.New())
					}
					encode[i] = min(encode[i], encoded.Sub(start))
					decode[i] = min(decode[i], time.Since(encoded))
				}
			}
			b.ReportMetric(float64(encode[0])/100, "encode-ns")
			b.ReportMetric(float64(decode[0])/100, "decode-ns")
			b.ReportMetric(float64(encode[1])/float64(encode[0]), "encode÷built-in")
			b.ReportMetric(float64(decode[1])/float64(decode[0]), "decode÷built-in")
		})
	}
}

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
