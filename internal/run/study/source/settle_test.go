package source

import (
	"strings"
	"testing"

	"netdyno/internal/run/study"
)

func TestSettleIsOfOneArm(t *testing.T) {
	_, err := ParseArgs([]string{"transport=go-net,go-epoll", "settle=5%"}, nil)
	if err == nil || !strings.Contains(err.Error(), "compares 2 arms") || !strings.Contains(err.Error(), "such as 30s") {
		t.Errorf("two arms settle by precision: %v", err)
	}
	if _, err := ParseArgs([]string{"transport=go-net", "settle=30s"}, nil); err == nil || !strings.Contains(err.Error(), "5%/30s") {
		t.Errorf("one arm settles by a time alone: %v", err)
	}
	for _, bad := range []string{"settle=0", "settle=120%", "settle=soon", "settle=5%/", "settle=5%/0s", "settle=5%/soon"} {
		if _, err := ParseArgs([]string{"transport=go-net", bad}, nil); err == nil || !strings.Contains(err.Error(), "settle") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// A study of one arm runs it once in each block and cell, ends early, and is the
// same when its file is read again.
func TestAStudyThatSettlesComesBackFromItsFile(t *testing.T) {
	text := "study: mine\nvary:\n  arm:\n    mine: {server: go-net, client: go-net}\n  connections: [1, 10]\nsettle: 5%/30s\n"
	s, err := ParseFile("mine.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	written, err := YAML(s)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseFile("again.yaml", written)
	if err != nil || again.Settle != 0.05 || again.SettleS != 30 {
		t.Fatalf("read back: %v, settle %v:\n%s", err, again.Settle, written)
	}
	trials, warnings, err := again.Plan()
	if err != nil || len(trials) != 2*9 || len(warnings) > 0 {
		t.Errorf("%d trials, warnings %v, %v", len(trials), warnings, err)
	}
	for _, trial := range trials {
		if trial.Repeat {
			t.Errorf("trial %s repeats the only arm", trial.ID)
		}
	}
	if study.Summary(again).Settle != 0.05 || study.Summary(again).SettleS != 30 {
		t.Error("readers are not told of settle")
	}
}

// A study of several arms may bound the time in which its comparisons settle.
func TestSeveralArmsMayHaveATime(t *testing.T) {
	s, err := ParseArgs([]string{"transport=go-net,go-epoll", "settle=30s"}, nil)
	if err != nil || s.Settle != 0 || s.SettleS != 30 {
		t.Fatalf("settle %v/%v s, %v", s.Settle, s.SettleS, err)
	}
	written, err := YAML(s)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseFile("again.yaml", written)
	if err != nil || again.Settle != 0 || again.SettleS != 30 {
		t.Errorf("read back: %v, %+v:\n%s", err, again, written)
	}
}
