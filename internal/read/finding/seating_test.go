package finding

import (
	"reflect"
	"testing"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

func TestSeatingNamesEverySeatOnce(t *testing.T) {
	worker := func(name, seat string, cpus ...int) record.Worker {
		return record.Worker{Name: name, Seat: seat, CPUSet: cpus}
	}
	of := func(workers ...record.Worker) *trial.Judged {
		return &trial.Judged{Record: &record.Record{Workers: workers}}
	}
	s := &cells.Dataset{Trials: []*trial.Judged{
		of(worker("client-1", "a", 1), worker("server", "b", 0)),
		{},
		of(worker("server", "b", 0, 1), worker("client-1", "a", 1), worker("client-2", "c")),
	}}
	want := []Seated{
		{Seat: "a", Workers: []string{"client-1"}, CPUs: []string{"1"}},
		{Seat: "b", Workers: []string{"server"}, CPUs: []string{"0", "0,1"}},
		{Seat: "c", Workers: []string{"client-2"}},
	}
	if got := seating(s); !reflect.DeepEqual(got, want) {
		t.Errorf("seating %+v, want %+v", got, want)
	}
	all := &cells.Dataset{Trials: []*trial.Judged{of(worker("client-2", "a"), worker("client-1", "a"), worker("server", "a"))}}
	if got := seating(all); len(got) != 1 || !reflect.DeepEqual(got[0].Workers, []string{"server", "client-1", "client-2"}) {
		t.Errorf("one seat: %+v", got)
	}
}
