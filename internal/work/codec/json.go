package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

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
	if len(dst) == 0 && cap(dst) < len(data) {
		return data, err
	}
	return append(dst, data...), err
}

// Decode implements Codec.
func (JSON) Decode(data []byte, message any) error { return json.Unmarshal(data, message) }

// text and reply are what a Go programmer would write for the built-in
// messages.
type text struct {
	Text string `json:"text"`
}

type reply struct {
	ReplyValue1  string `json:"replyValue1"`
	ReplyValue2  string `json:"replyValue2"`
	ReplyValue3  string `json:"replyValue3"`
	ReplyValue4  string `json:"replyValue4"`
	ReplyValue5  string `json:"replyValue5"`
	ReplyValue6  string `json:"replyValue6"`
	ReplyValue7  string `json:"replyValue7"`
	ReplyValue8  string `json:"replyValue8"`
	ReplyValue9  string `json:"replyValue9"`
	ReplyValue10 string `json:"replyValue10"`
	ReplyValue11 string `json:"replyValue11"`
	ReplyValue12 string `json:"replyValue12"`
	ReplyValue13 string `json:"replyValue13"`
	ReplyValue14 string `json:"replyValue14"`
	ReplyValue15 string `json:"replyValue15"`
	ReplyValue16 string `json:"replyValue16"`
	ReplyValue17 string `json:"replyValue17"`
	ReplyValue18 string `json:"replyValue18"`
	ReplyValue19 string `json:"replyValue19"`
	ReplyValue20 string `json:"replyValue20"`
}

var structs = map[string]reflect.Type{
	"netdyno.v1.Text":  reflect.TypeFor[text](),
	"netdyno.v1.Reply": reflect.TypeFor[reply](),
}

// StructKind makes the Go struct that a JSON library works on: a written one
// for the built-in messages, one made by reflection for the user's own (see
// shapeOf), which costs encoding/json the same. The error says what of the
// content does not fit, or cannot be in a Go struct.
func StructKind(types *Types, content contract.Content) (Kind, error) {
	message, err := types.fill(content)
	if err != nil {
		return Kind{}, err
	}
	t, written := structs[content.Type]
	if !written || types.builtIn(message.ProtoReflect().Descriptor().FullName()) == nil {
		if t, err = shapeOf(message.ProtoReflect().Descriptor()); err != nil {
			return Kind{}, err
		}
	}
	filled := reflect.New(t).Interface()
	if err := types.convert(message, filled); err != nil {
		return Kind{}, fmt.Errorf("put %s into a struct: %w", content.Type, err)
	}
	encoded, err := json.Marshal(filled)
	if err != nil {
		return Kind{}, fmt.Errorf("encode %s: %w", content.Type, err)
	}
	return Kind{
		Content: filled,
		New:     func() any { return reflect.New(t).Interface() },
		Same: func(m any) bool { // by what they say: an absent list and an empty one are the same message
			again, err := json.Marshal(m)
			return err == nil && bytes.Equal(encoded, again)
		},
	}, nil
}

// convert fills a struct with a message's values, and makes sure that it says
// the same as the message does: both codecs are to carry the same content.
func (t *Types) convert(message proto.Message, into any) error {
	mapped, err := protojson.MarshalOptions{Resolver: t.resolver}.Marshal(message)
	if err != nil {
		return err
	}
	strict := json.NewDecoder(bytes.NewReader(mapped))
	strict.DisallowUnknownFields()
	if err := strict.Decode(into); err != nil {
		return structural(err)
	}
	written, err := json.Marshal(into)
	if err != nil {
		return err
	}
	back := message.ProtoReflect().New().Interface()
	if err := (protojson.UnmarshalOptions{Resolver: t.resolver}).Unmarshal(written, back); err != nil {
		return fmt.Errorf("read the struct back: %w", err)
	}
	if !proto.Equal(message, back) {
		return fmt.Errorf("field %s comes back with another value: a struct cannot tell null and -0 from nothing", differing(message.ProtoReflect(), back.ProtoReflect()))
	}
	return nil
}

// structural says which of the values that protobuf has and a Go struct for
// JSON has not is there.
func structural(err error) error {
	var mismatch *json.UnmarshalTypeError
	if !errors.As(err, &mismatch) {
		return err
	}
	why := ""
	switch mismatch.Type.Kind() {
	case reflect.Float32, reflect.Float64:
		why = "; JSON has no number for NaN and infinity"
	case reflect.String:
		why = "; an enum's value is its name, which an unknown number does not have"
	}
	return fmt.Errorf("field %s: expected %s, found a %s%s", mismatch.Field, mismatch.Type, mismatch.Value, why)
}

// differing names the first field that two messages of one type do not agree in.
func differing(a, b protoreflect.Message) string {
	for i := range a.Descriptor().Fields().Len() {
		if f := a.Descriptor().Fields().Get(i); a.Has(f) != b.Has(f) || !a.Get(f).Equal(b.Get(f)) {
			return f.JSONName()
		}
	}
	return "(unknown)"
}
