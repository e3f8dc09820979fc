package source

import (
	"strings"
	"time"

	"netdyno/internal/quantity"
	"netdyno/internal/run/study"
)

// share is a share with its position.
type share struct {
	at    position
	value float64
	time  time.Duration // after which the run ends all the same; 0 for no bound
}

// readSettle reads within which share of itself a rate must be known, and how long the
// run may try: 5%, or 5%/30s.
func readSettle(e entry) (*share, error) {
	text, err := e.scalarOf("a share such as 5%, or a share and a time such as 5%/30s")
	if err != nil {
		return nil, err
	}
	text, bound, bounded := strings.Cut(text, "/")
	var most time.Duration
	if bounded {
		if most, err = quantity.ParseDuration(bound); err != nil || most <= 0 {
			return nil, e.value.at.errorf("settle: found %s behind the share; expected the time that the run may take for it, such as 5%%/30s", quantity.Clip(bound, 40))
		}
	}
	value, err := quantity.ParseShare(text)
	switch {
	case err != nil:
		return nil, e.value.at.errorf("settle: %s", err)
	case value <= 0 || value > 1:
		return nil, e.value.at.errorf("settle: found %s; expected a share above 0, up to 100%%", quantity.Clip(text, 40))
	}
	return &share{e.value.at, value, most}, nil
}

// apply gives a complete study its precision. One that compares arms ends when
// its comparisons are settled, and by nothing else.
func (p *share) apply(s *study.Study) error {
	if p == nil {
		return nil
	}
	if arms := len(s.Scope().Arms()); arms > 1 {
		return p.at.errorf("settle: the study compares %d arms, and ends when the primary comparisons are settled; expected one arm", arms)
	}
	s.Settle, s.SettleS = p.value, p.time.Seconds()
	return nil
}
