package source

import (
	"reflect"
	"strings"
	"testing"
)

// Arms that a command adds are those of an ordinary study, also when its file is
// read again; a typed key wins over an arm's.
func TestAddArm(t *testing.T) {
	a, err := ReadArguments([]string{"study=mine", "connections=1,10", "client=fasthttp", "blocks=2"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"127.0.0.1:8080", "[::1]:8081/a"} {
		if err := a.AddArm("http://"+name, name, map[string]string{"server": "address", "client": "go-http1", "opt.server.address": name, "response": "615B"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.AddArm("http://127.0.0.1:8080", "127.0.0.1:8080", nil); err == nil || !strings.Contains(err.Error(), "named twice") {
		t.Errorf("one arm twice: %v", err)
	}
	if err := a.AddArm("http://x", "a b", nil); err == nil || !strings.Contains(err.Error(), "not a name") {
		t.Errorf("a bad name: %v", err)
	}
	s, err := a.Study(nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.Compare.Factor != "arm" || s.Compare.Baseline != "127.0.0.1:8080" {
		t.Errorf("compares %+v", s.Compare)
	}
	text, err := YAML(s)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseFile("again.yaml", text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	before, _, err := s.Plan()
	if err != nil {
		t.Fatal(err)
	}
	after, _, err := again.Plan()
	if err != nil || !reflect.DeepEqual(before, after) {
		t.Errorf("another plan from the file: %v", err)
	}
	if before[0].Levels["client"] != "fasthttp" || before[0].Levels["opt.server.address"] == "" {
		t.Errorf("levels %v", before[0].Levels)
	}
}

func TestAddArmToAFile(t *testing.T) {
	a, err := ReadArguments([]string{"event-loops"})
	if err == nil {
		err = a.AddArm("http://x", "x", nil)
	}
	if err == nil || !strings.Contains(err.Error(), "expected KEY=LEVEL") {
		t.Errorf("an arm beside a study: %v", err)
	}
}

// A key that a command sets is read once, as if it were typed, and errors name the
// command's option.
func TestSet(t *testing.T) {
	a, err := ReadArguments(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Study(nil); err == nil || !strings.Contains(err.Error(), "no study is named") {
		t.Errorf("nothing typed and nothing said: %v", err)
	}
	for key, value := range map[string]string{"transport": "go-net,go-epoll", "question": "Which, then?", "margin": "5%", "capacity.objective": "response_p50 <= 1ms,error_share <= 1%"} {
		if err := a.Set("--x", key, value); err != nil {
			t.Error(err)
		}
	}
	s, err := a.Study(nil)
	if err != nil || s.Question != "Which, then?" || s.Compare.Margin != 0.05 || len(s.Capacity.Objective) != 2 || len(s.Compared().Levels) != 2 {
		t.Errorf("%+v, %v", s, err)
	}
	for _, c := range [][3]string{
		{"capacity.within", "1%", "--x: within: found 1%"}, {"margin", "1%", "--x: margin is given twice; first in --x"}, {"conections", "5", `--x: unknown factor "conections"`},
	} {
		if err := a.Set("--x", c[0], c[1]); err == nil || !strings.HasPrefix(err.Error(), c[2]) {
			t.Errorf("%s=%s: %v, want %q", c[0], c[1], err, c[2])
		}
	}
}
