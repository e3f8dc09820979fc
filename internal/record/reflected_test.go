package record_test

import (
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

func TestReflectedIsProtobufOfTheUsersWithoutGeneratedCode(t *testing.T) {
	order, simple := contract.Structure{Name: "x", Descriptors: []byte{0}}, contract.Structure{Name: "simple"}
	for _, c := range []struct {
		name    string
		codec   string
		message contract.Structure
		ready   *contract.Ready
		want    bool
	}{
		{"own message, as in records of before there was the field", "proto", order, &contract.Ready{}, true},
		{"own message, generated code", "proto", order, &contract.Ready{Generated: true}, false},
		{"built in", "proto", simple, &contract.Ready{}, false},
		{"JSON", "json", order, &contract.Ready{}, false},
		{"a program of the user's", "proto", order, &contract.Ready{Foreign: true}, false},
		{"never ready", "proto", order, nil, false},
	} {
		w := record.Worker{Ready: c.ready, Setup: &contract.Setup{Exchange: contract.Exchange{
			Codec: c.codec, Message: &c.message,
		}}}
		if got := w.Reflected(); got != c.want {
			t.Errorf("%s: reflected %t, want %t", c.name, got, c.want)
		}
	}
	if (&record.Worker{}).Reflected() {
		t.Error("a worker that was never set up is reflected")
	}
}
