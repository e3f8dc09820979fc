package profile

import (
	"math"
	"strconv"
)

// Ink is the colour of text that reads best on the activity's own, rrggbb: by its
// contrast ratio with black and white (WCAG 2.2, relative luminance).
func (a Activity) Ink() string {
	const dark, light = "14161a", "ffffff"
	rgb, err := strconv.ParseUint(a.Colour, 16, 32)
	if err != nil {
		return dark
	}
	linear := func(part uint64) float64 {
		light := float64(part&0xff) / 255
		if light <= 0.04045 {
			return light / 12.92
		}
		return math.Pow((light+0.055)/1.055, 2.4)
	}
	luminance := 0.2126*linear(rgb>>16) + 0.7152*linear(rgb>>8) + 0.0722*linear(rgb)
	if 1.05/(luminance+0.05) >= (luminance+0.05)/0.05 {
		return light
	}
	return dark
}
