package meter

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// The result of a worker whose window was opened says what stood still, and no other
// message does.
func TestAResultSaysWhatStoodStill(t *testing.T) {
	m := run(t, bounds{}, "honest")
	m.next()
	m.send(`{"setup":{"window_ns":3000000000}}`)
	m.next()
	for _, mark := range []string{`{"mark":{"id":1}}`, `{"mark":{"id":2,"reset":true}}`, `{"mark":{"id":3}}`} {
		m.send(mark)
		if answer, line := m.next(); answer.Meter == nil || answer.Meter.Beat != nil {
			t.Errorf("a mark has a beat: %s", line)
		}
	}
	m.send(`{"stop":{}}`)
	result, line := m.next()
	if b := result.Meter.Beat; b == nil || b.EveryNs != int64(60*time.Millisecond) {
		t.Errorf("want a beat every fiftieth of the window: %s", line)
	}
	if !strings.Contains(line, `"longest_ns"`) {
		t.Errorf("it does not say how late it came: %s", line)
	}
}

// A meter that stands still before the window opens says so: the opening mark was late then.
func TestABeatBeginsBeforeTheWindow(t *testing.T) {
	m := run(t, bounds{}, "honest")
	m.next()
	m.send(`{"setup":{"window_ns":1000000000}}`)
	m.next()
	m.send(`{"mark":{"id":3}}`)
	idle, _ := m.next()
	signal := func(s syscall.Signal) {
		if err := m.cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	signal(syscall.SIGSTOP)
	time.Sleep(300 * time.Millisecond) // what is injected
	signal(syscall.SIGCONT)
	m.send(`{"mark":{"id":1,"reset":true}}`)
	opened, _ := m.next()
	m.send(`{"stop":{}}`)
	result, line := m.next()
	for _, s := range result.Meter.Beat.Stood {
		if s.FromNs >= idle.Meter.AtNs && s.ToNs <= opened.Meter.AtNs && s.ToNs-s.FromNs > int64(200*time.Millisecond) {
			return
		}
	}
	t.Errorf("no standstill between the two marks: %s", line)
}
