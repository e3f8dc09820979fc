package check

import (
	"context"
	"testing"
)

func TestExampleWorkerConforms(t *testing.T) {
	outcomes, err := Run(context.Background(), []string{"../../../contract/example/worker.py"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range outcomes {
		t.Logf("%v %v %s/%s %s", o.Pass, o.Skipped, o.Transport, o.Case, o.Text)
	}
}
