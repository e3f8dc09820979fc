package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// askTimeout bounds one request to the cluster.
const askTimeout = 20 * time.Second

// cluster is a namespace of a cluster, as the user's kubeconfig reaches it. Any goroutine may
// use it.
type cluster struct {
	config    *rest.Config
	client    *rest.RESTClient
	namespace string
	holder    string // of the run, as objects name it
}

// scheme has the core group alone: a whole clientset would double the program.
var scheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	if err := corev1.AddToScheme(s); err != nil {
		panic(err)
	}
	return s
}()

var parameters = runtime.NewParameterCodec(scheme)

// connect reads the kubeconfig. Nothing is asked of the cluster yet.
func connect(context, namespace string) (*cluster, error) {
	loaded := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		clientcmd.NewDefaultClientConfigLoadingRules(), &clientcmd.ConfigOverrides{CurrentContext: context})
	config, err := loaded.ClientConfig()
	switch {
	case clientcmd.IsEmptyConfig(err):
		return nil, fmt.Errorf("no kubeconfig: %s names no cluster; get one from who runs the cluster, and let `kubectl get pods` work first", kubeconfigs())
	case err != nil:
		return nil, fmt.Errorf("read the kubeconfig (%s): %w", kubeconfigs(), err)
	}
	c := &cluster{config: config, namespace: namespace}
	if c.namespace == "" {
		if c.namespace, _, err = loaded.Namespace(); err != nil {
			return nil, fmt.Errorf("read the kubeconfig (%s): %w", kubeconfigs(), err)
		}
	}
	version := corev1.SchemeGroupVersion
	config.GroupVersion, config.APIPath = &version, "/api"
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	config.QPS = -1 // the server has limits of its own
	config.UserAgent = "netdyno"
	if c.client, err = rest.RESTClientFor(config); err != nil {
		return nil, fmt.Errorf("use the kubeconfig (%s): %w", kubeconfigs(), err)
	}
	return c, nil
}

// kubeconfigs says where it was looked for.
func kubeconfigs() string {
	if named := os.Getenv("KUBECONFIG"); named != "" {
		return "KUBECONFIG=" + named
	}
	return "~/.kube/config"
}

// act is what is asked for, as roles name it.
type act struct{ verb, resource, namespace string }

// request begins one in the run's namespace.
func (c *cluster) request(verb, resource string) (*rest.Request, act) {
	r := c.client.Verb(strings.ToUpper(methods[verb])).Namespace(c.namespace).Resource(resource).Timeout(askTimeout)
	return r, act{verb, resource, c.namespace}
}

// methods of HTTP by verbs of roles.
var methods = map[string]string{"list": "get", "create": "post", "delete": "delete"}

// pod returns one; nil where it is not there. It is listed, as all are, so that no right is
// needed to get one.
func (c *cluster) pod(ctx context.Context, name string) (*corev1.Pod, error) {
	var list corev1.PodList
	r, a := c.request("list", "pods")
	err := r.VersionedParams(&metav1.ListOptions{FieldSelector: "metadata.name=" + name}, parameters).Do(ctx).Into(&list)
	if err != nil || len(list.Items) == 0 {
		return nil, refusal(err, a)
	}
	return &list.Items[0], nil
}

// pods of netdyno, of one run or of all ("").
func (c *cluster) pods(ctx context.Context, run string) ([]corev1.Pod, error) {
	var list corev1.PodList
	r, a := c.request("list", "pods")
	err := r.VersionedParams(&metav1.ListOptions{LabelSelector: selector(run)}, parameters).Do(ctx).Into(&list)
	return list.Items, refusal(err, a)
}

func (c *cluster) services(ctx context.Context, run string) ([]corev1.Service, error) {
	var list corev1.ServiceList
	r, a := c.request("list", "services")
	err := r.VersionedParams(&metav1.ListOptions{LabelSelector: selector(run)}, parameters).Do(ctx).Into(&list)
	return list.Items, refusal(err, a)
}

// create makes an object and reads back into it what the cluster made of it.
func (c *cluster) create(ctx context.Context, resource string, object runtime.Object) error {
	r, a := c.request("create", resource)
	return refusal(r.Body(object).Do(ctx).Into(object), a)
}

// remove deletes an object; one that is not there is deleted. Grace is in seconds.
func (c *cluster) remove(ctx context.Context, resource, name string, grace int64) error {
	r, a := c.request("delete", resource)
	background := metav1.DeletePropagationBackground
	err := r.Name(name).Body(&metav1.DeleteOptions{GracePeriodSeconds: &grace, PropagationPolicy: &background}).Do(ctx).Error()
	return refusal(notMissing(err), a)
}

// Labels and annotations of objects.
const (
	managedBy  = "app.kubernetes.io/managed-by"
	ours       = "netdyno"
	runLabel   = "netdyno/run"
	indexLabel = "netdyno/pod"
	holderNote = "netdyno/holder"
)

func selector(run string) string {
	text := managedBy + "=" + ours
	if run != "" {
		text += "," + runLabel + "=" + run
	}
	return text
}
