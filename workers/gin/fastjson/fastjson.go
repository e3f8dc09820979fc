// Package fastjson is codec json-fast: github.com/bytedance/sonic, which
// compiles an encoder and a decoder for each type when it first meets it. It
// lives in a module of its own, for sonic brings assembly and a loader that no
// other worker should link.
package fastjson

import (
	"errors"

	"github.com/bytedance/sonic"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
)

// Name is the level of factor codec.
const Name = "json-fast"

// Sonic is sonic.Marshal and sonic.Unmarshal over ordinary structs, which is
// sonic.ConfigDefault: it leaves <, > and & as they are in texts and does not
// check that texts are UTF-8. Any goroutine may use it.
type Sonic struct{}

// Name implements codec.Codec.
func (Sonic) Name() string { return Name }

// MediaType implements codec.Codec.
func (Sonic) MediaType() string { return "application/json" }

// Kind implements codec.Codec. The error says so where sonic is encoding/json
// in disguise: on processors and with versions of Go that it does not know.
func (Sonic) Kind(types *codec.Types, content contract.Content) (codec.Kind, error) {
	if sonic.APIKind != sonic.UseSonicJSON {
		return codec.Kind{}, errors.New("sonic does not compile for this processor and version of Go, and would be encoding/json")
	}
	return codec.StructKind(types, content)
}

// Encode implements codec.Codec.
func (Sonic) Encode(dst []byte, message any) ([]byte, error) {
	data, err := sonic.Marshal(message)
	if len(dst) == 0 && cap(dst) < len(data) {
		return data, err
	}
	return append(dst, data...), err
}

// Decode implements codec.Codec. sonic copies data before it lets texts point
// into it.
func (Sonic) Decode(data []byte, message any) error { return sonic.Unmarshal(data, message) }

// Codecs are what a transport with this codec alone is made with.
func Codecs() []codec.Codec { return []codec.Codec{Sonic{}} }

// Only narrows a transport that was made with Codecs to codec json-fast: the
// bench chooses a worker by transport and codec, and codec bytes belongs to the
// program without sonic.
func Only(t load.Transport) load.Transport { return only{t} }

type only struct{ load.Transport }

// Describe implements load.Transport.
func (o only) Describe() contract.Transport {
	d := o.Transport.Describe()
	d.Codecs = []string{Name}
	return d
}
