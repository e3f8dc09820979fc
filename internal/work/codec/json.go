package codec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"netdyno/internal/contract"
)

// JSON is Go's encoding/json over ordinary structs.
type JSON struct{}

// Name implements Codec.
func (JSON) Name() string { return "json" }

// MediaType implements Codec.
func (JSON) MediaType() string { return "application/json" }

// Kind implements Codec.
func (JSON) Kind(types *Types, content contract.Content) (Kind, error) {
	return StructKind(types, content)
}

// Encode implements Codec.
func (JSON) Encode(dst []byte, message any) ([]byte, error) {
	data, err := json.Marshal(message)
	return append(dst, data...), err
}

// Decode implements Codec.
func (JSON) Decode(data []byte, message any) error { return json.Unmarshal(data, message) }

// text and texts are what a Go programmer would write for the built-in
// messages.
type text struct {
	Text string `json:"text"`
}

type texts struct {
	Texts []string `json:"texts"`
}

var structs = map[string]reflect.Type{
	"netdyno.v1.Text":  reflect.TypeFor[text](),
	"netdyno.v1.Texts": reflect.TypeFor[texts](),
}

// StructKind makes the Go struct that a JSON library works on.
func StructKind(_ *Types, content contract.Content) (Kind, error) {
	t, ok := structs[content.Type]
	if !ok {
		return Kind{}, fmt.Errorf("message type %s has no struct", content.Type)
	}
	filled := reflect.New(t).Interface()
	strict := json.NewDecoder(bytes.NewReader([]byte(content.JSON)))
	strict.DisallowUnknownFields()
	if err := strict.Decode(filled); err != nil {
		return Kind{}, fmt.Errorf("read a %s: %w", content.Type, err)
	}
	return Kind{
		Content: filled,
		New:     func() any { return reflect.New(t).Interface() },
		Same:    func(m any) bool { return reflect.DeepEqual(filled, m) },
	}, nil
}
