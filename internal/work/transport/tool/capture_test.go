package tool

import "testing"

func TestCapture(t *testing.T) {
	var kept capture
	for range 3 {
		if n, err := kept.Write(make([]byte, captureBytes/2)); n != captureBytes/2 || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
	}
	if len(kept.text) != captureBytes || !kept.full {
		t.Errorf("%d bytes, full %v", len(kept.text), kept.full)
	}
}
