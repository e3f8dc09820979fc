package sizes

import (
	"fmt"
	"math"
	"strings"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/draw"
	"netdyno/internal/quantity"
)

// unit is what the numbers of a distribution are: bytes, or ns.
type unit struct {
	parse func(text string) (int64, error)
	text  func(n int64) string // canonical
	most  int64
	what  string // that may be no larger
}

var (
	inBytes = unit{quantity.ParseBytes, quantity.BytesText, contract.MaxMessage, "that a message may have"}
	inTime  = unit{
		func(text string) (int64, error) { d, err := quantity.ParseDuration(text); return int64(d), err },
		func(n int64) string { return quantity.DurationText(time.Duration(n)) },
		contract.MostWorkNs, "that a server may work for an exchange",
	}
)

// read reads a number up to the most that there may be.
func (u unit) read(text string) (int64, error) {
	n, err := u.parse(text)
	if err == nil && n > u.most {
		err = fmt.Errorf("%s is more than %s, the most %s", quantity.Clip(text, 40), u.text(u.most), u.what)
	}
	return n, err
}

// spoken is a number as a person writes it: 1 KiB.
func (u unit) spoken(n int64) string {
	text := u.text(n)
	name := strings.TrimLeft(text, "0123456789.")
	return strings.TrimSuffix(text, name) + " " + name
}

// expMost is where an exponential distribution is cut, in means: one in 10⁹ is longer.
const expMost = 21

// ParseTime reads a time, or a distribution of times: all forms of Parse but cdf, and
// exp:MEAN. The error says what was found and what was expected.
func ParseTime(text string) (*Sizes, error) {
	name, rest, found := strings.Cut(text, ":")
	if !found {
		n, err := inTime.read(text)
		return &Sizes{Text: inTime.text(n), Words: inTime.spoken(n), Table: contract.Table{{contract.TableEnd, n, n}}}, err
	}
	if name == "exp" {
		return readExp(rest)
	}
	examples := []string{"exp:200us"}
	for _, f := range forms {
		if f.ofTime == "" {
			continue
		}
		examples = append(examples, f.ofTime)
		if f.name != name {
			continue
		}
		s, err := f.read(inTime, rest)
		if err == nil {
			err = s.Table.Check(contract.MostWorkNs)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w (such as %s)", name, err, f.ofTime)
		}
		return s, nil
	}
	return nil, fmt.Errorf("%q is no time and no distribution of times; %s", quantity.Clip(text, 80), quantity.Hint(text, examples))
}

func readExp(rest string) (*Sizes, error) {
	mean, err := inTime.read(rest)
	if err == nil && (mean < 1 || mean > contract.MostWorkNs/expMost) {
		err = fmt.Errorf("the mean is %s, expected 1ns to %s", rest, inTime.text(contract.MostWorkNs/expMost))
	}
	if err != nil {
		return nil, fmt.Errorf("exp: %w (such as exp:200us)", err)
	}
	below := func(x float64) float64 { return -math.Expm1(-max(x, 0) / float64(mean)) }
	return &Sizes{
		Text:  "exp:" + inTime.text(mean),
		Words: "exponential, mean " + inTime.spoken(mean),
		Table: draw.Cut(below, 0, expMost*mean),
	}, nil
}
