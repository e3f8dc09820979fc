package codec

import (
	"testing"

	"netdyno/internal/contract"
)

func structured(codec string) contract.Setup {
	return contract.Setup{Exchange: contract.Exchange{Codec: codec, Message: &contract.Structure{
		Name: "complex",
		Up:   contract.Content{Type: "netdyno.v1.Text", JSON: `{"text":"hello"}`},
		Down: contract.Content{Type: "netdyno.v1.Reply", JSON: twenty},
	}}}
}

func TestAnExchangeGoesRoundWithEveryCodec(t *testing.T) {
	setups := map[string]contract.Setup{"bytes": {Exchange: contract.Exchange{UpBytes: 10, DownBytes: 1 << 16}}}
	for _, c := range Standard() {
		setups[c.Name()] = structured(c.Name())
	}
	for name, setup := range setups {
		x, err := New(setup, Standard())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		request, err := x.Request(nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		reply, err := x.Respond(nil, request)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if int64(len(request)) != x.UpBytes || int64(len(reply)) != x.DownBytes {
			t.Errorf("%s: %d up and %d down, announced %d and %d", name, len(request), len(reply), x.UpBytes, x.DownBytes)
		}
		if err := x.Accept(reply); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := x.Verify(0, reply); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		damaged := append([]byte(nil), reply...)
		damaged[len(damaged)/2] ^= 1
		if err := x.Verify(0, damaged); err == nil {
			t.Errorf("%s: a damaged reply passes", name)
		}
		if _, err := x.Respond(nil, request[:len(request)-1]); err == nil {
			t.Errorf("%s: a short request is answered", name)
		}
	}
}
