package rig

import "testing"

func TestWayBetweenTwoDevices(t *testing.T) {
	const (
		card     = "sys/devices/pci0000:80/0000:80:01.0/0000:81:00.0/0000:82:08.0/0000:83:00.0"
		beside   = "sys/devices/pci0000:80/0000:80:01.0/0000:81:00.0/0000:82:10.0/0000:84:00.0"
		sibling  = "sys/devices/pci0000:80/0000:80:03.0/0000:90:00.0"
		far      = "sys/devices/pci0000:00/0000:00:02.0/0000:02:00.0"
		nowhere  = "sys/devices/virtual/infiniband/rxe0"
		embedded = "sys/devices/pci0000:80/0000:80:05.0"
	)
	for _, c := range []struct {
		to    string
		nodes [2]string
		want  string
	}{
		{beside, [2]string{"1", "1"}, sameSwitch},
		{sibling, [2]string{"1", "1"}, sameComplex},
		{embedded, [2]string{"", ""}, sameComplex},
		{far, [2]string{"1", "1"}, sameNode},
		{far, [2]string{"1", "0"}, otherNode},
		{far, [2]string{"-1", "0"}, ""},
		{nowhere, [2]string{"", ""}, ""},
	} {
		if got := pcieBetween(card, c.to, c.nodes); got != c.want {
			t.Errorf("to %s on nodes %q: %q, want %q", c.to, c.nodes, got, c.want)
		}
	}
}
