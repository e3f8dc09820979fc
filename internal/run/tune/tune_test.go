package tune

import (
	"slices"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/each"
)

var zero, most = 0.0, float64(1 << 20)

var offered = contract.Transport{Name: "t", Options: []contract.Option{
	{Name: "read_buffer", Type: contract.TypeBytes, Default: float64(32 << 10), Grid: []string{"0B", "32KiB", "128KiB"}},
	{Name: "workers", Type: contract.TypeInt, Default: 0.0, Min: &zero, Max: &most, Roles: []contract.Role{contract.Server}, Grid: []string{"4"}},
	{Name: "mode", Type: contract.TypeChoice, Default: "unary", Choices: []string{"unary", "stream"}},
	{Name: "method", Type: contract.TypeText, Default: ""},
}}

func held(...string) func(string) bool { return func(string) bool { return false } }

func names(arms []Arm) []string {
	return each.Of(arms, func(a Arm) string { return a.Name })
}

// Options with a grid are options, at both ends where both have them; the default is tried
// as the arm of the defaults alone; pairs come last.
func TestOptionsWithAGridRace(t *testing.T) {
	f, err := Plan(offered, nil, held(), 24)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"defaults", "read_buffer-0B", "read_buffer-128KiB", "workers-4", "read_buffer-0B+workers-4", "read_buffer-128KiB+workers-4"}
	if !slices.Equal(names(f), want) {
		t.Errorf("arms %v, want %v", names(f), want)
	}
	if f[4].Levels["opt.server.workers"] != "4" {
		t.Errorf("levels %v", f[4].Levels)
	}
	if f, err = Plan(offered, nil, held(), 5); err != nil || len(f) != 5 {
		t.Errorf("room for 5: %v, %v", names(f), err)
	}
	if f, err = Plan(offered, nil, func(factor string) bool { return factor == "opt.server.read_buffer" }, 24); err != nil || len(f) != 2 {
		t.Errorf("with the read buffer set: %v, %v", names(f), err)
	}
}

func TestOptionsThatAreNamed(t *testing.T) {
	f, err := Plan(offered, []string{"opt.server.read_buffer", "client.read_buffer", "mode"}, held(), 64)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"defaults", "server.read_buffer-0B", "server.read_buffer-128KiB", "client.read_buffer-0B", "client.read_buffer-128KiB", "mode-stream"}; !slices.Equal(names(f)[:6], want) {
		t.Errorf("arms %v, want %v first", names(f), want)
	}
	for name, want := range map[string]string{
		"method": "no values of opt.method are known", "opt.reed_buffer": "read_buffer", "opt.client.workers": "option of the [server] alone",
	} {
		if _, err := Plan(offered, []string{name}, held(), 24); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want …%s…", name, err, want)
		}
	}
	if _, err := Plan(offered, []string{"mode", "mode"}, held(), 24); err == nil || !strings.Contains(err.Error(), "named twice") {
		t.Errorf("an option twice: %v", err)
	}
	if _, err := Plan(offered, []string{"mode"}, func(string) bool { return true }, 24); err == nil || !strings.Contains(err.Error(), "both an option to vary and set") {
		t.Errorf("an option that is set: %v", err)
	}
	if _, err := Plan(offered, nil, held(), 2); err == nil || !strings.Contains(err.Error(), "there is time for 2") {
		t.Errorf("no room: %v", err)
	}
}
