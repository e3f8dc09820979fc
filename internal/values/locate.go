package values

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// step leads from an object or array to something in it.
type step struct {
	key   string
	index int // in an array, where key means nothing; -1 in an object
}

// frame is an object or array that has begun.
type frame struct {
	step
	atKey bool // a key comes next
}

// locate walks text to the token that begins at offset or after it: the steps
// to it, whether it is a key, and its text.
func locate(text []byte, offset int) (path []step, key bool, token string) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var frames []frame
	for {
		begin := skip(text, int(decoder.InputOffset()))
		if begin >= offset {
			return steps(frames), len(frames) > 0 && frames[len(frames)-1].atKey, raw(text[begin:])
		}
		t, err := decoder.Token()
		if err != nil {
			return nil, false, ""
		}
		frames = advance(frames, t)
	}
}

// advance takes a token into account: the frames tell where the next one is.
func advance(frames []frame, t json.Token) []frame {
	switch delimiter, _ := t.(json.Delim); delimiter {
	case '{':
		return append(frames, frame{step{index: -1}, true})
	case '[':
		return append(frames, frame{step{}, false})
	case '}', ']':
		frames = frames[:len(frames)-1]
	}
	if len(frames) == 0 {
		return frames
	}
	switch top := &frames[len(frames)-1]; {
	case top.index >= 0:
		top.index++
	case top.atKey:
		top.key, _ = t.(string) // a key is a string
		top.atKey = false
	default:
		top.atKey = true
	}
	return frames
}

// skip passes what stands between two tokens.
func skip(text []byte, at int) int {
	for at < len(text) && strings.IndexByte(" \t\r\n,:", text[at]) >= 0 {
		at++
	}
	return at
}

func steps(frames []frame) []step {
	var path []step
	for _, f := range frames {
		if !f.atKey {
			path = append(path, f.step)
		}
	}
	return path
}

// raw is the value that text begins with as an error quotes it.
func raw(text []byte) string {
	var value json.RawMessage
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&value); err != nil || len(value) == 0 {
		return ""
	}
	switch value[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	}
	const most = 40
	if runes := []rune(string(value)); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return string(value)
}

func pathText(path []step) string {
	var text strings.Builder
	for _, s := range path {
		switch {
		case s.index >= 0:
			text.WriteString("[" + strconv.Itoa(s.index) + "]")
		case text.Len() == 0:
			text.WriteString(s.key)
		default:
			text.WriteString("." + s.key)
		}
	}
	return text.String()
}

// spot is what the descriptor says of a place in the JSON: a message, or a
// field, whole or one value of its list or map. The zero spot knows nothing.
type spot struct {
	message protoreflect.MessageDescriptor // where field is nil, or is of a message type
	field   protoreflect.FieldDescriptor
	whole   bool // the field's list or map, not a value in it
}

// follow leads from a message along path.
func follow(message protoreflect.MessageDescriptor, path []step) spot {
	at := spot{message: message}
	for _, s := range path {
		switch {
		case at.whole && at.field.IsMap():
			at = spot{field: at.field.MapValue(), message: at.field.MapValue().Message()}
		case at.whole:
			at.whole = false
		case at.message != nil:
			field := fieldOf(at.message, s.key)
			if field == nil {
				return spot{}
			}
			at = spot{field: field, message: field.Message(), whole: field.IsList() || field.IsMap()}
		default:
			return spot{}
		}
	}
	return at
}

func fieldOf(message protoreflect.MessageDescriptor, name string) protoreflect.FieldDescriptor {
	if field := message.Fields().ByJSONName(name); field != nil {
		return field
	}
	return message.Fields().ByTextName(name)
}
