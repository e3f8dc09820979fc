package part

import (
	"strconv"

	"netdyno/internal/metric"
)

// Figure is one drawing: at most one of the pointers is set. The browser draws it from
// this value; the caption stands in the page without a script.
type Figure struct {
	Heading
	Lines  *Lines  `json:"lines,omitempty"`
	Panels *Panels `json:"panels,omitempty"`
	Heat   *Heat   `json:"heat,omitempty"`
	Front  *Front  `json:"front,omitempty"`
}

// Drawn reports whether there is anything to draw.
func (f Figure) Drawn() bool {
	return f.Lines != nil || f.Panels != nil || f.Heat != nil || f.Front != nil
}

// Heading is what stands around a figure's drawing.
type Heading struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	Caption string `json:"caption"`
	Wide    bool   `json:"wide"`           // takes the page's whole width
	Cell    int    `json:"cell,omitempty"` // number of the cell that the figure is of, from 1; 0 for none
}

// Axis is one axis of a chart: of a metric in the unit of Scale, or of a factor with
// its levels as Ticks.
type Axis struct {
	Title string       `json:"title"`
	Scale metric.Scale `json:"scale"`
	Log   bool         `json:"log,omitempty"` // a level of zero stands apart, before a gap
	Ticks []Tick       `json:"ticks,omitempty"`
}

// Tick is one level at its place.
type Tick struct {
	At   float64 `json:"at"`
	Text string  `json:"text"`
}

// Behind names the trials of a mark that stands for several: those of some arms in the
// cell of that number, from 1. Cell is 0 where the trials are of several cells.
type Behind struct {
	Cell int      `json:"cell,omitempty"`
	Arms []string `json:"arms,omitempty"`
}

// Colour is the colour and shape of a mark: Arm is its place among the arms of the page,
// which gives it by Of, the arm's name; without a name it is kept as it is.
type Colour struct {
	Arm int    `json:"arm"`
	Of  string `json:"-"`
}

// Lines shows a metric over the levels of a factor, a line for each level of another.
type Lines struct {
	X     Axis   `json:"x"`
	Y     Axis   `json:"y"`
	Lines []Line `json:"lines"`
}

// Panels are charts of the same lines beside each other: of several metrics, or over
// several factors. One legend names the lines.
type Panels struct {
	Charts []Lines `json:"charts"`
}

// Line is one line; Name is empty when it is the only one. Model is a curve that stands
// for the points, which are then not joined: pairs of a level and a value.
type Line struct {
	Colour
	Name   string       `json:"name"`
	Points []LinePoint  `json:"points"`
	Model  [][2]float64 `json:"model,omitempty"`
}

// LinePoint is one value with its interval, Text what the pointer shows. A model has not
// seen a hollow one.
type LinePoint struct {
	X      float64 `json:"x"`
	Value  float64 `json:"value"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Text   string  `json:"text"`
	Hollow bool    `json:"hollow,omitempty"`
	Behind
}

// Heat shows a metric by colour over two factors, its values printed.
type Heat struct {
	X       string   `json:"x"`
	Y       string   `json:"y"`
	Axis    string   `json:"axis"`
	Log     bool     `json:"log,omitempty"`   // the colours' scale
	Columns []string `json:"columns"`         // levels of X, rising
	Rows    []string `json:"rows"`            // levels of Y from the top, falling
	Lower   bool     `json:"lower,omitempty"` // is better: what is worse has the same colour in every map
	Boxes   []Box    `json:"boxes"`
}

// Box is the metric at one pair of levels; Text is printed in it, Hint shown under the
// pointer.
type Box struct {
	Column int     `json:"column"`
	Row    int     `json:"row"`
	Value  float64 `json:"value"`
	Text   string  `json:"text"`
	Hint   string  `json:"hint"`
	Behind
}

// Front shows what each arm in each cell reaches against what that costs.
type Front struct {
	X      Axis         `json:"x"`     // the cost
	Y      Axis         `json:"y"`     // what it buys
	LowX   bool         `json:"low_x"` // less of X is better
	Points []FrontPoint `json:"points"`
}

// FrontPoint is one arm, or level, in one cell; Label names it where there is room,
// Text is what the pointer shows.
type FrontPoint struct {
	Colour
	Name  string  `json:"name"`
	Label string  `json:"label"`
	Text  string  `json:"text"`
	X     float64 `json:"x"`
	XLow  float64 `json:"x_low"`
	XHigh float64 `json:"x_high"`
	Y     float64 `json:"y"`
	YLow  float64 `json:"y_low"`
	YHigh float64 `json:"y_high"`
	On    bool    `json:"on,omitempty"`
	Behind
}

// Brief cuts a number to five significant digits: more than a figure can show, and
// half the bytes.
func Brief(x float64) float64 {
	cut, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 5, 64), 64)
	if err != nil {
		return 0
	}
	return cut
}

// Drawable holds for what a log axis can take.
func Drawable(values ...float64) bool {
	for _, v := range values {
		if !Finite(v) || v <= 0 {
			return false
		}
	}
	return true
}
