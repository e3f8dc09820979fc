package workers_test

import (
	"os/exec"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

// Connect's protocol is plain enough for curl.
func TestCurl(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed: `make packages-test` installs it")
	}
	x := message("json", "complex")
	server, address := trial{Of: "go-connect", Exchange: x}.Listen(t, all)
	reply := x.Message.Down.JSON
	for _, c := range []struct{ method, body, want string }{
		{"Complex", `{"text":"` + workertest.Question + `"}`, reply + " 200"},
		{"Complex", `{"text":`, `{"code":"invalid_argument"`},
		{"Simple", `{"text":"` + workertest.Question + `"}`, "404 page not found"},
	} {
		got, err := exec.Command(curl, "-sS", "-w", " %{http_code}", "-H", "Content-Type: application/json", "-d", c.body, "http://"+address+"/netdyno.v1.Exchange/"+c.method).Output()
		if err != nil || !strings.HasPrefix(string(got), c.want) {
			t.Errorf("%s %s: %q, want %q, %v", c.method, c.body, got, c.want, err)
		}
	}
	if got := server.Settled(contract.Counts{}, 1); got.Exchanges != 1 || got.SentBytes != int64(len(reply)) {
		t.Errorf("counts %+v, want one exchange of %d bytes down", got, len(reply))
	}
}
