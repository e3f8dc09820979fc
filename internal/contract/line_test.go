package contract

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
)

// fill sets every field that can be reached from v to something that is not
// zero, so that a field added later is in the round trip without a thought.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte{1, 2})
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
		if all, is := v.Interface().(Interfaces); is {
			slices.SortFunc(all, func(a, b NamedInterface) int { return cmp.Compare(a.Name, b.Name) })
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, n)
		fill(value, n)
		v.SetMapIndex(key, value)
	case reflect.Interface:
		v.Set(reflect.ValueOf(float64(*n)))
	case reflect.String:
		v.SetString("text µ " + strings.Repeat("x", *n%5))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(float64(*n) + 0.5)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n) << 40)
	case reflect.Uint64:
		v.SetUint(math.MaxUint64)
	default:
		panic("the contract has a new kind of field: " + v.Kind().String())
	}
}

func TestEveryFieldSurvivesTheRoundTrip(t *testing.T) {
	message := reflect.TypeFor[Message]()
	for i := range message.NumField() {
		name := jsonName(message.Field(i))
		if name == "meter" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			var sent Message
			n := 0
			fill(reflect.ValueOf(&sent).Elem().Field(i), &n)
			fill(reflect.ValueOf(&sent.Meter).Elem(), &n)
			var wire bytes.Buffer
			if err := NewWriter(&wire).Write(sent); err != nil {
				t.Fatal(err)
			}
			got, err := NewReader(&wire).Read()
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, sent) {
				t.Errorf("read %+v, sent %+v", got, sent)
			}
			if got.Name() != name {
				t.Errorf("named %q, expected %q", got.Name(), name)
			}
		})
	}
}

func TestReaderGoesOnAfterABadLine(t *testing.T) {
	r := NewReader(strings.NewReader("noise\n{\"mark\":{\"id\":3}}\n"))
	var bad *LineError
	if _, err := r.Read(); !errors.As(err, &bad) || bad.Line != "noise\n" {
		t.Fatalf("error %v, expected one that quotes the noise", err)
	}
	for _, want := range []string{"noise", "stderr", "CONTRACT.md, section Lines"} {
		if !strings.Contains(bad.Error(), want) {
			t.Errorf("error %q does not mention %q", bad, want)
		}
	}
	if m, err := r.Read(); err != nil || m.Mark == nil || m.Mark.ID != 3 {
		t.Fatalf("read %+v, %v after the noise, expected mark 3", m, err)
	}
}

func TestWriterRefusesWhatJSONCannotSay(t *testing.T) {
	var out bytes.Buffer
	err := NewWriter(&out).Write(Message{Setup: &Setup{Load: Load{Rate: math.NaN()}}})
	if err == nil || !strings.Contains(err.Error(), "encode setup") || out.Len() > 0 {
		t.Fatalf("error %v, wrote %q", err, out.String())
	}
	if err := NewWriter(brokenPipe{}).Write(Message{Stop: &Stop{}}); !errors.Is(err, io.ErrClosedPipe) {
		t.Fatalf("error %v, expected the writer's", err)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestWriterKeepsLinesWholeAmongGoroutines(t *testing.T) {
	const writers, each = 8, 200
	pipeR, pipeW := io.Pipe()
	w := NewWriter(pipeW)
	var all sync.WaitGroup
	for id := range writers {
		all.Go(func() {
			for range each {
				if err := w.Write(Message{Mark: &Mark{ID: id}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	go func() {
		all.Wait()
		_ = pipeW.Close() // an io.Pipe's Close never fails
	}()
	r, n := NewReader(pipeR), 0
	for {
		_, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != writers*each {
		t.Fatalf("read %d whole lines, expected %d", n, writers*each)
	}
}

// Whatever comes, the reader ends, keeps its bounds, and what it accepts it
// can say again.
func FuzzReader(f *testing.F) {
	for _, v := range readVectors(f) {
		if s := v.stream(); len(s) < 10_000 {
			f.Add([]byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		r := NewReader(bytes.NewReader(stream))
		for range bytes.Count(stream, []byte("\n")) + 2 {
			m, err := r.Read()
			var bad *LineError
			switch {
			case errors.Is(err, io.EOF):
				return
			case errors.As(err, &bad):
				if len(bad.Line) > 200 {
					t.Fatalf("excerpt of %d bytes", len(bad.Line))
				}
			case err != nil:
				t.Fatalf("error %T: %v", err, err)
			default:
				var again bytes.Buffer
				if err := NewWriter(&again).Write(m); err != nil {
					t.Fatalf("cannot write what was read: %v", err)
				}
				back, err := NewReader(&again).Read()
				if err != nil || back.Name() != m.Name() {
					t.Fatalf("wrote %q, read %s, %v", m.Name(), back.Name(), err)
				}
			}
		}
		t.Fatal("the reader does not end")
	})
}
