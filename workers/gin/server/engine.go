package server

import (
	stdjson "encoding/json"
	"io"
	"net/http"

	"github.com/bytedance/sonic"
	"github.com/gin-gonic/gin/codec/json"

	"netdyno/internal/work/codec"

	"netdyno/workers/gin/fastjson"
)

// engine is the JSON library of gin (json.API) behind the frames codec.Encode
// and codec.Decode, by which a CPU profile tells what encoding costs. gin has
// one for the whole process, chosen by build tag; this package sets it when a
// trial's codec is known. A process serves one trial.
type engine struct {
	json.Core // what no exchange uses: indented and streamed output
	codec     codec.Codec
	decoder   func(io.Reader) json.Decoder
}

// engines by codec. gin built with tag sonic takes sonic.ConfigStd; here
// json-fast is sonic.ConfigDefault, as with every other transport.
func engines(builtIn json.Core) map[string]engine {
	return map[string]engine{
		codec.JSON{}.Name(): {builtIn, codec.JSON{}, func(r io.Reader) json.Decoder { return stdjson.NewDecoder(r) }},
		fastjson.Name:       {builtIn, fastjson.Sonic{}, func(r io.Reader) json.Decoder { return sonic.ConfigDefault.NewDecoder(r) }},
	}
}

// Marshal is what gin renders by.
func (e engine) Marshal(v any) ([]byte, error) { return codec.Encode(e.codec, nil, v) }

// Unmarshal implements json.Core.
func (e engine) Unmarshal(data []byte, v any) error { return codec.Decode(e.codec, data, v) }

// NewDecoder is what gin binds by. It reads the request while it decodes, so
// that the frame holds both.
func (e engine) NewDecoder(r io.Reader) json.Decoder {
	from := e.decoder(r)
	return &decoder{Decoder: from, framed: stream{from: from}}
}

// decoder passes gin's decoding of a stream through the frame.
type decoder struct {
	json.Decoder
	framed stream
}

// Decode implements json.Decoder.
func (d *decoder) Decode(v any) error { return codec.Decode(&d.framed, nil, v) }

// stream is a decoder in the shape of a codec; its data comes from where the
// decoder reads.
type stream struct {
	codec.Codec // nothing but Decode is asked of it
	from        json.Decoder
}

// Decode implements codec.Codec.
func (s *stream) Decode(_ []byte, message any) error { return s.from.Decode(message) }

// protobuf binds and renders protobuf as gin's own binding.ProtoBuf and
// render.ProtoBuf do, through the frames.
type protobuf struct{ message any }

// Name implements binding.Binding.
func (protobuf) Name() string { return "protobuf" }

// Bind implements binding.Binding.
func (protobuf) Bind(r *http.Request, message any) error {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	return codec.Decode(codec.Proto{}, data, message)
}

// WriteContentType implements render.Render.
func (protobuf) WriteContentType(w http.ResponseWriter) {
	w.Header()["Content-Type"] = []string{codec.Proto{}.MediaType()}
}

// Render implements render.Render.
func (p protobuf) Render(w http.ResponseWriter) error {
	p.WriteContentType(w)
	data, err := codec.Encode(codec.Proto{}, nil, p.message)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}
