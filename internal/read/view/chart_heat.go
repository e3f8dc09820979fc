package view

import (
	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
)

// drawTiles draws the metric over two factors, a tile for each pair of levels.
func drawTiles(s *cells.Dataset, c *Chart, _ metric.Metric) {
	pools, drawn := pools(s, c, c.Spec.X, c.Spec.Y)
	if drawn == nil {
		return
	}
	columns := coordinates(s, drawn, c.Spec.X)
	for _, y := range coordinates(s, drawn, c.Spec.Y) {
		for _, x := range columns {
			if p := pools[chartPoint{x: x.Text, y: y.Text}]; p != nil {
				if f, ok := p.Figure(); ok {
					c.Tiles = append(c.Tiles, Tile{x, y, f})
				}
			}
		}
	}
}
