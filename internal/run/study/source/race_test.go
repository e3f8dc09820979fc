package source

import (
	"strings"
	"testing"
)

const racing = `study: x
hold: {transport: go-grpc, window: 1s}
vary:
  arm: {defaults: {}, r0: {opt.server.read_buffer: 0B}, w0: {opt.server.write_buffer: 0B}}
compare: {baseline: defaults, primary: exchanges_per_s}
`

// A race takes each block's baseline once.
func TestARaceIsRead(t *testing.T) {
	s := mustFile(t, racing+`blocks: 20
race:
  best: exchanges_per_s
  within: server.rss_bytes <= 200MB
  time: 4m
`)
	if r := s.Race; r == nil || r.Best != "exchanges_per_s" || r.Confirm != raceConfirm || r.TimeS != 240 || len(r.Within) != 1 || r.Within[0].Value != 200e6 {
		t.Fatalf("read %+v", r)
	}
	trials, _, err := s.Plan()
	if err != nil || len(trials) != 3*20 {
		t.Errorf("%d trials, %v; want every arm once in 20 blocks", len(trials), err)
	}
	if s := mustFile(t, racing+"race: {best: exchanges_per_s}\n"); s.Blocks != raceBlocks+raceConfirm || s.Race.Confirm != raceConfirm {
		t.Errorf("without numbers: %d blocks, %+v", s.Blocks, s.Race)
	}
}

func TestARaceThatCannotBeRunIsRefused(t *testing.T) {
	for race, want := range map[string]string{
		"race: {best: nonsense}":                                                             `unknown metric "nonsense"`,
		"race: {best: response_p99_us}":                                                      "without a rate no exchange has a due time",
		"race: {best: exchanges_per_s, time: 1s}":                                            "expected 5 s to a day",
		"race: {best: exchanges_per_s, time: soon}":                                          "time: ",
		"race: {best: exchanges_per_s, within: 3}":                                           `found "3"; expected METRIC <= BOUND`,
		"race: {best: exchanges_per_s}\nblocks: 11":                                          "leave fewer than 2 for the race",
		"race: {best: exchanges_per_s, fastest: yes}":                                        `unknown key "fastest"`,
		"race: {best: exchanges_per_s, within: [server.rss_bytes <= 1GB, error_share <= 0]}": "is not above 0",
	} {
		_, err := ParseFile("x.yaml", []byte(racing+race+"\n"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want …%s…", race, err, want)
		}
	}
	if _, err := ParseFile("x.yaml", []byte(strings.Replace(racing, "  arm:", "  connections: [1, 2]\n  arm:", 1)+"race: {best: exchanges_per_s}\n")); err == nil || !strings.Contains(err.Error(), "has 2 cells; expected one") {
		t.Errorf("two cells: %v", err)
	}
}

// What the command tune says of a race is typed as keys.
func TestARaceIsTyped(t *testing.T) {
	for text, want := range map[string]string{
		"server.rss_bytes <= 2GB": "", "exchanges_per_s>=10k, server.rss_bytes ≤ 2GB": "",
		"server.rss_bytes >= 2GB": "less of server.rss_bytes is better", "server.rss_bytes 2GB": "expected METRIC <= BOUND", "nonsense <= 1": "unknown metric",
	} {
		s, err := ParseArgs([]string{"x.yaml", "race.best=server.cores", "race.time=2m", "race.within=" + text}, func(string) ([]byte, error) { return []byte(racing), nil })
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
		if err == nil && (s.Race.Best != "server.cores" || s.Race.TimeS != 120 || len(s.Race.Within) == 0 || s.Race.Confirm != raceConfirm) {
			t.Errorf("%s: %+v", text, s.Race)
		}
	}
}
