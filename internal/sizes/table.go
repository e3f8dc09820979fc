package sizes

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
)

// point is a size and the share of messages up to it. The share since the point before is
// that of the size alone, or spread evenly over the sizes since the one before.
type point struct {
	size  int64
	below float64
	alone bool
}

// joined makes a table of points. The error names a share that is too small to be drawn.
func joined(u unit, points []point) (contract.Table, error) {
	if len(points) > mostPoints {
		return nil, fmt.Errorf("%d points, expected at most %d", len(points), mostPoints)
	}
	var t contract.Table
	last, before := int64(0), int64(-1)
	for _, p := range points {
		end := int64(math.Round(p.below * contract.TableEnd))
		low := p.size
		if !p.alone && before >= 0 && p.size > before {
			low = before + 1
		}
		before = p.size
		if end == last {
			if p.alone {
				return nil, fmt.Errorf("the share of %s is less than 1 in 2^32", u.text(p.size))
			}
			continue
		}
		t = append(t, contract.Segment{end, low, p.size})
		last = end
	}
	return t, nil
}

// Bounds of a CDF that is written out.
const (
	mostPoints = 256
	mostFile   = 64 << 10 // bytes
)

// readCDF reads SIZE:SHARE,…, both rising, the last share 100%. Sizes between two points
// are equally likely; the first point's share is that of its size.
func readCDF(u unit, rest string) (*Sizes, error) {
	if Unread("cdf:" + rest) {
		return nil, fmt.Errorf("the file %q was not read", quantity.Clip(rest, 80))
	}
	var points []point
	var texts []string
	for i, part := range strings.Split(rest, ",") {
		size, share, found := strings.Cut(strings.TrimSpace(part), ":")
		if !found {
			return nil, fmt.Errorf("found %q, expected SIZE:SHARE", quantity.Clip(part, 40))
		}
		p, err := pointOf(points, size, share)
		if err != nil {
			return nil, fmt.Errorf("point %d: %w", i+1, err)
		}
		points = append(points, p)
		texts = append(texts, quantity.BytesText(p.size)+":"+shareText(p.below))
	}
	first, last := points[0], points[len(points)-1]
	if math.Abs(last.below-1) > 1e-9 {
		return nil, fmt.Errorf("the last share is %s, expected 100%%", shareText(last.below))
	}
	points[len(points)-1].below = 1
	table, err := joined(u, points)
	return &Sizes{
		Text:  "cdf:" + strings.Join(texts, ","),
		Words: fmt.Sprintf("%s to %s, by %d points", u.spoken(first.size), u.spoken(last.size), len(points)),
		Table: table,
	}, err
}

// pointOf reads a point that follows those before it.
func pointOf(before []point, size, share string) (point, error) {
	n, err := inBytes.read(size)
	if err != nil {
		return point{}, err
	}
	p, err := readShare(share)
	if err != nil {
		return point{}, err
	}
	if len(before) > 0 {
		switch last := before[len(before)-1]; {
		case n < last.size:
			return point{}, fmt.Errorf("size %s follows %s, expected rising sizes", size, quantity.BytesText(last.size))
		case p < last.below:
			return point{}, fmt.Errorf("share %s follows %s, expected shares that never fall", share, shareText(last.below))
		}
	}
	return point{size: n, below: p}, nil
}

// Unread tells whether a text names a file that ReadFile has to read: cdf:FILE.
func Unread(text string) bool {
	rest, is := strings.CutPrefix(text, "cdf:")
	if !is {
		return false
	}
	size, share, found := strings.Cut(strings.SplitN(rest, ",", 2)[0], ":")
	_, wrong := quantity.ParseBytes(size)
	_, bad := readShare(share)
	return !found || wrong != nil && bad != nil
}

// ReadFile returns the distribution that cdf:FILE names as cdf:SIZE:SHARE,…, of a file
// with a line "SIZE SHARE" for each point; # begins a comment. Errors name the file, line
// and column.
func ReadFile(text string, read func(name string, most int64) ([]byte, error)) (string, error) {
	name := strings.TrimPrefix(text, "cdf:")
	content, err := read(name, mostFile)
	if err != nil {
		return "", err
	}
	var points []point
	var texts []string
	lines := bufio.NewScanner(bytes.NewReader(content))
	for number := 1; lines.Scan(); number++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 2 {
			return "", fmt.Errorf("%s:%d:1: found %q, expected SIZE SHARE, such as 1KiB 90%%", name, number, quantity.Clip(line, 80))
		}
		p, err := pointOf(points, fields[0], fields[1])
		if err != nil {
			return "", fmt.Errorf("%s:%d:%d: %w", name, number, strings.Index(line, fields[0])+1, err)
		}
		points = append(points, p)
		texts = append(texts, quantity.BytesText(p.size)+":"+shareText(p.below))
	}
	if err := lines.Err(); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	if len(points) == 0 {
		return "", fmt.Errorf("%s: no points, expected a line SIZE SHARE for each", name)
	}
	inline := "cdf:" + strings.Join(texts, ",")
	if _, err := Parse(inline); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return inline, nil
}
