package main

import (
	"context"
	"iter"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

// executor answers each message by the verb that its text begins with.
type executor struct {
	gates gates
	verbs map[string]verb
}

// verb emits the events of one answer.
type verb func(ctx context.Context, reply *reply, argument string)

func newExecutor() *executor {
	e := &executor{}
	e.verbs = map[string]verb{
		"echo":      echo,
		"stream":    stream,
		"slow":      e.slow,
		"release":   e.release,
		"hang":      hang,
		"fail":      fail,
		"raise":     raise,
		"reject":    reject,
		"ask":       ask,
		"auth":      auth,
		"file":      file,
		"data":      data,
		"big":       big,
		"message":   message,
		"artifacts": artifacts,
		"appends":   appends,
		"meta":      meta,
	}
	return e
}

// Execute implements [a2asrv.AgentExecutor].
func (e *executor) Execute(ctx context.Context, request *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		r := &reply{request: request, yield: yield}
		text := firstText(request.Message)
		if request.StoredTask != nil {
			answer(r, text)
			return
		}
		name, argument, _ := strings.Cut(text, " ")
		run, known := e.verbs[name]
		if !known {
			run, argument = reject, "unknown verb: "+name
		}
		run(ctx, r, argument)
	}
}

// Cancel implements [a2asrv.AgentExecutor]. Its event also ends an execution that still runs.
func (e *executor) Cancel(_ context.Context, request *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		yield(a2a.NewStatusUpdateEvent(request, a2a.TaskStateCanceled, nil), nil)
	}
}

func firstText(message *a2a.Message) string {
	for _, part := range message.Parts {
		if text, ok := part.Content.(a2a.Text); ok {
			return string(text)
		}
	}
	return ""
}
