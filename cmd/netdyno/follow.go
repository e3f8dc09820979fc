package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
)

// follow reads how replies that come in events are followed.
func (t *urlFlags) follow() error {
	switch t.as {
	case "":
	case "chat":
		t.Events.Follow, t.Events.Chat = true, true
	default:
		return fmt.Errorf("--as %s: expected chat", quantity.Clip(t.as, 40))
	}
	if t.events == "" {
		return nil
	}
	t.Events.Follow = true
	if n, err := strconv.ParseInt(t.events, 10, 64); err == nil && n > 0 && n <= 1e9 {
		t.Events.Most = n
		return nil
	}
	d, err := quantity.ParseDuration(t.events)
	if err != nil || d < time.Millisecond {
		return fmt.Errorf("--events %s: expected a number of events, or a time of 1 ms or more, such as 100 or 5s", quantity.Clip(t.events, 40))
	}
	t.Events.Lasts = d
	return nil
}

// ofEvents are the metrics of replies that come in events.
var ofEvents = strings.Join(metric.OfEvents(), ",")
