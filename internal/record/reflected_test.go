package record_test

import (
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

func TestReflectedIsProtobufOfTheUsersWithoutGeneratedCode(t *testing.T) {
	order, text := contract.Content{Type: "shop.Order"}, contract.Content{Type: "netdyno.v1.Text"}
	for _, c := range []struct {
		name     string
		codec    string
		up, down contract.Content
		ready    *contract.Ready
		want     bool
	}{
		{"own message, as in records of before there was the field", "proto", order, order, &contract.Ready{}, true},
		{"own message, generated code", "proto", order, order, &contract.Ready{Generated: true}, false},
		{"own reply", "proto", text, order, &contract.Ready{}, true},
		{"built in", "proto", text, text, &contract.Ready{}, false},
		{"JSON", "json", order, order, &contract.Ready{}, false},
		{"a program of the user's", "proto", order, order, &contract.Ready{Foreign: true}, false},
		{"never ready", "proto", order, order, nil, false},
	} {
		w := record.Worker{Ready: c.ready, Setup: &contract.Setup{Exchange: contract.Exchange{
			Codec: c.codec, Message: &contract.Structure{Name: "x", Up: c.up, Down: c.down},
		}}}
		if got := w.Reflected(); got != c.want {
			t.Errorf("%s: reflected %t, want %t", c.name, got, c.want)
		}
	}
	if (&record.Worker{}).Reflected() {
		t.Error("a worker that was never set up is reflected")
	}
}
