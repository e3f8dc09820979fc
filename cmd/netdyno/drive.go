package main

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
)

// wireSpoken is what the server speaks; of a foreign program its option says it.
func wireSpoken(catalog *bench.Catalog, w record.Worker) string {
	declared, _ := w.Ready.Options["wire"].(string)
	for _, o := range catalog.Offers() {
		if o.Name == w.Transport && o.Wire != "" {
			return o.Wire
		}
	}
	return cmp.Or(declared, "echo")
}

// drive says how programs that everybody has drive a server of this wire: one
// command a line. An unknown wire has none.
func drive(wire string, w record.Worker) []string {
	address := w.Ready.Addresses[0]
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil
	}
	x := w.Setup.Exchange
	size := cmp.Or(w.Ready.UpBytes, x.UpBytes)
	scheme, insecure, plain := "http", "", "-plaintext "
	if w.Setup.TLS != nil {
		scheme, insecure, plain = "https", "-k ", "-insecure "
	}
	url := fmt.Sprintf("%s://%s/", scheme, address)
	content, file := fmt.Sprintf("head -c %d /dev/zero > up.bin; ", size), "up.bin"
	kind := "application/octet-stream"
	if m := x.Message; m != nil && x.Codec != "" && x.Codec != "bytes" {
		content, file, kind = "", "FILE", "application/"+x.Codec
	}
	post := fmt.Sprintf("-H 'Content-Type: %s'", kind)
	switch {
	case wire == "echo":
		return []string{fmt.Sprintf("head -c %d /dev/zero | nc -N %s %s | wc -c", size, host, port)}
	case wire == "http/1.1" && size == 0:
		return []string{
			fmt.Sprintf("curl %s-o /dev/null %s", insecure, url),
			fmt.Sprintf("wrk -c 50 -t 1 -d 5s %s", url),
		}
	case wire == "http/1.1":
		return []string{
			fmt.Sprintf("%scurl %s%s --data-binary @%s -o /dev/null %s", content, insecure, post, file, url),
			fmt.Sprintf("h2load --h1 -c 50 -n 100000 %s -d %s %s", post, file, url),
		}
	case wire == "h2c" && size == 0:
		return []string{
			fmt.Sprintf("curl --http2-prior-knowledge %s-o /dev/null %s", insecure, url),
			fmt.Sprintf("h2load -c 50 -n 100000 %s", url),
		}
	case wire == "h2c":
		return []string{
			fmt.Sprintf("%scurl --http2-prior-knowledge %s%s --data-binary @%s -o /dev/null %s", content, insecure, post, file, url),
			fmt.Sprintf("h2load -c 50 -n 100000 %s -d %s %s", post, file, url),
		}
	case wire == "grpc:netdyno.v1":
		return []string{
			fmt.Sprintf("grpcurl %s%s list", plain, address),
			fmt.Sprintf("grpcurl %s%s describe netdyno.v1", plain, address),
		}
	}
	return nil
}

func sortedKinds(errors map[contract.ErrorKind]int64) []contract.ErrorKind {
	return slices.Sorted(maps.Keys(errors))
}
