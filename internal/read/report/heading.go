package report

// Heading is what stands around a figure's drawing.
type Heading struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	Caption string `json:"caption"`
	Wide    bool   `json:"wide"`           // takes the page's whole width
	Cell    int    `json:"cell,omitempty"` // number of the cell that the figure is of, from 1; 0 for none
}
