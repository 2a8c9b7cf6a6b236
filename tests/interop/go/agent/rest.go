package main

import (
	"net/http"
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

// operations are the first segments of the paths of the HTTP+JSON binding: what stands before one of them is the tenant.
var operations = []string{"message:send", "message:stream", "tasks", "extendedAgentCard"}

// restRouter picks the SDK's handler by the number of path segments of the tenant, since a template of
// the SDK has a fixed number of them.
type restRouter struct {
	byDepth []http.Handler
}

func newRESTRouter(handler a2asrv.RequestHandler) *restRouter {
	const deepestTenant = 4
	router := &restRouter{byDepth: []http.Handler{http.StripPrefix(restPath, a2asrv.NewRESTHandler(handler))}}
	for depth := 1; depth <= deepestTenant; depth++ {
		capture := strings.TrimSuffix(strings.Repeat("*/", depth), "/")
		router.byDepth = append(router.byDepth, a2asrv.NewTenantRESTHandler(restPath+"/{"+capture+"}", handler))
	}
	return router
}

func (r *restRouter) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	segments := strings.Split(strings.TrimPrefix(request.URL.Path, restPath+"/"), "/")
	depth := slices.IndexFunc(segments, func(segment string) bool { return slices.Contains(operations, segment) })
	if depth < 0 || depth >= len(r.byDepth) {
		http.NotFound(response, request)
		return
	}
	r.byDepth[depth].ServeHTTP(response, request)
}
