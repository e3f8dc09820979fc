package worker_test

import (
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker"
)

func TestNoErrorHasAPartOfAText(t *testing.T) {
	d := contract.Transport{Name: "x", Options: []contract.Option{{Name: "headers", Type: contract.TypeText, Default: ""}}}
	_, err := worker.Complete(d, contract.Client, map[string]any{"headers": []any{"Authorization: hunter2"}})
	if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "headers") {
		t.Errorf("%v; want a refusal that names the option and has nothing of its value", err)
	}
}
