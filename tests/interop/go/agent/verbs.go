package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"a2a-interop-go/internal/contract"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

func echo(_ context.Context, r *reply, argument string) {
	parts := slices.Clone(r.request.Message.Parts)
	for i, part := range parts {
		if _, ok := part.Content.(a2a.Text); ok {
			shortened := *part
			shortened.Content = a2a.Text(argument)
			parts[i] = &shortened
			break
		}
	}
	r.only("echo", parts...)
}

func stream(_ context.Context, r *reply, argument string) {
	count, ok := number(r, argument)
	if !ok {
		return
	}
	r.work()
	for i := range count {
		text := strconv.Itoa(i) + " "
		r.chunk(chunk{artifact: "stream", appended: i > 0, last: i == count-1, parts: texts(text)})
	}
	r.complete()
}

func (e *executor) slow(ctx context.Context, r *reply, key string) {
	r.work()
	r.chunk(chunk{artifact: "slow", parts: texts("first")})
	if !e.gates.wait(ctx, key) {
		return
	}
	r.chunk(chunk{artifact: "slow", appended: true, last: true, parts: texts("second")})
	r.complete()
}

func (e *executor) release(_ context.Context, r *reply, key string) {
	e.gates.release(key)
	r.message("released")
}

func hang(ctx context.Context, r *reply, _ string) {
	r.work()
	<-ctx.Done()
}

func fail(_ context.Context, r *reply, argument string) {
	r.work()
	r.status(a2a.TaskStateFailed, argument)
}

func raise(_ context.Context, r *reply, argument string) {
	r.work()
	panic(argument)
}

func reject(_ context.Context, r *reply, argument string) {
	r.begin()
	r.status(a2a.TaskStateRejected, argument)
}

func ask(_ context.Context, r *reply, _ string) {
	r.work()
	r.status(a2a.TaskStateInputRequired, "which?")
}

func auth(_ context.Context, r *reply, _ string) {
	r.work()
	r.status(a2a.TaskStateAuthRequired, "sign in")
}

// answer takes the message that continues "ask" or "auth"; no other verb leaves a task that can be continued.
func answer(r *reply, text string) {
	r.only("answer", a2a.NewTextPart(text))
}

func file(_ context.Context, r *reply, _ string) {
	raw := a2a.NewRawPart(contract.AllBytes())
	raw.Filename, raw.MediaType = "bytes.bin", "application/octet-stream"
	url := a2a.NewFileURLPart("https://example.com/a.png", "image/png")
	url.Filename = "a.png"
	r.only("file", raw, url)
}

func data(_ context.Context, r *reply, _ string) {
	r.only("data", a2a.NewDataPart(contract.Data()))
}

func big(_ context.Context, r *reply, argument string) {
	if length, ok := number(r, argument); ok {
		r.only("big", a2a.NewTextPart(strings.Repeat("x", length)))
	}
}

func message(_ context.Context, r *reply, argument string) {
	r.message(argument)
}

func artifacts(_ context.Context, r *reply, argument string) {
	count, ok := number(r, argument)
	if !ok {
		return
	}
	r.work()
	for i := range count {
		r.artifact(fmt.Sprintf("a%d", i), a2a.NewTextPart(fmt.Sprintf("artifact %d", i)))
	}
	r.complete()
}

func appends(_ context.Context, r *reply, _ string) {
	r.work()
	r.chunk(chunk{artifact: "a", parts: texts("a1")})
	r.chunk(chunk{artifact: "b", parts: texts("b1")})
	r.chunk(chunk{artifact: "a", appended: true, last: true, parts: texts("a2")})
	r.chunk(chunk{artifact: "b", appended: true, last: true, parts: texts("b2")})
	r.complete()
}

func meta(ctx context.Context, r *reply, _ string) {
	requested := []any{}
	if extensions, ok := a2asrv.ExtensionsFrom(ctx); ok {
		uris := extensions.RequestedURIs()
		slices.Sort(uris)
		for _, uri := range uris {
			requested = append(requested, uri)
		}
		if known := (&a2a.AgentExtension{URI: contract.EchoExtension}); extensions.Requested(known) {
			extensions.Activate(known)
		}
	}
	seen := map[string]any{
		"tenant":          r.request.Tenant,
		"extensions":      requested,
		"requestMetadata": orEmpty(r.request.Metadata),
		"messageMetadata": orEmpty(r.request.Message.Metadata),
	}
	r.work()
	r.chunk(chunk{
		artifact: "meta",
		last:     true,
		metadata: map[string]any{"k": "v"},
		parts:    []*a2a.Part{a2a.NewDataPart(seen)},
	})
	r.complete()
}

func orEmpty(object map[string]any) map[string]any {
	if object == nil {
		return map[string]any{}
	}
	return object
}

func texts(text string) []*a2a.Part {
	return []*a2a.Part{a2a.NewTextPart(text)}
}

// number reads the count that a verb takes, and rejects the task when there is none.
func number(r *reply, argument string) (int, bool) {
	count, err := strconv.Atoi(argument)
	if err != nil || count < 0 || count > contract.MessageLimit {
		r.begin()
		r.status(a2a.TaskStateRejected, "not a number: "+argument)
		return 0, false
	}
	return count, true
}
