package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

var turnCases = []testCase{
	{"input.unary", inputUnary},
	{"input.stream", inputStream},
	{"auth.unary", authUnary},
	{"ending.fail", endingFail},
	{"ending.raise", endingRaise},
	{"ending.reject", endingReject},
}

var errorCases = []testCase{
	{"error.no_parts", errorNoParts},
	{"error.finished", errorFinished},
	{"error.unknown_task", errorUnknownTask},
	{"error.stream", errorStream},
}

// pause is a verb that waits for one more message.
type pause struct {
	verb, question string
	state          a2a.TaskState
}

var (
	askPause  = pause{"ask", "which?", a2a.TaskStateInputRequired}
	authPause = pause{"auth", "sign in", a2a.TaskStateAuthRequired}
)

func inputUnary(ctx context.Context, p *peer) error { return p.answered(ctx, askPause) }

func authUnary(ctx context.Context, p *peer) error { return p.answered(ctx, authPause) }

func (p *peer) answered(ctx context.Context, at pause) error {
	task, err := p.taskIn(ctx, at.state, say(at.verb))
	if err != nil {
		return err
	}
	if err := wantStatusText(task, at.question); err != nil {
		return err
	}
	done, err := p.completed(ctx, sayTo(task, "the second"))
	if err != nil {
		return fmt.Errorf("the answer: %w", err)
	}
	return errors.Join(wantEqual("id", done.ID, task.ID), wantArtifactText(done, "answer", "the second"))
}

func inputStream(ctx context.Context, p *peer) error {
	asked, err := ended(p.stream(ctx, say(askPause.verb)), askPause.state, nil)
	if err != nil {
		return err
	}
	if err := wantStatusText(asked.task, askPause.question); err != nil {
		return err
	}
	done, err := ended(p.stream(ctx, sayTo(asked.task, "the second")), a2a.TaskStateCompleted, nil)
	if err != nil {
		return fmt.Errorf("the answer: %w", err)
	}
	return errors.Join(
		wantEqual("id", done.task.ID, asked.task.ID),
		wantArtifactText(done.task, "answer", "the second"),
	)
}

func endingFail(ctx context.Context, p *peer) error {
	task, err := p.taskIn(ctx, a2a.TaskStateFailed, say("fail no luck"))
	if err != nil {
		return err
	}
	return wantStatusText(task, "no luck")
}

// endingRaise lists the context after an error, since the error alone does not name the task.
func endingRaise(ctx context.Context, p *peer) error {
	before, err := p.inContext(ctx, 1)
	if err != nil {
		return err
	}
	r := say("raise oops")
	r.Message.ContextID = before[0].ContextID
	task, err := p.task(ctx, r)
	if err == nil {
		return wantState(task, a2a.TaskStateFailed)
	}
	failed, listing := p.client.ListTasks(ctx, &a2a.ListTasksRequest{
		ContextID: before[0].ContextID,
		Status:    a2a.TaskStateFailed,
	})
	if listing != nil {
		return fmt.Errorf("after %q: %w", err, listing)
	}
	if len(failed.Tasks) != 1 {
		return fmt.Errorf("after %q there are %d tasks that failed", err, len(failed.Tasks))
	}
	return nil
}

func endingReject(ctx context.Context, p *peer) error {
	task, err := p.taskIn(ctx, a2a.TaskStateRejected, say("reject not here"))
	if err != nil {
		return err
	}
	return wantStatusText(task, "not here")
}

func errorNoParts(ctx context.Context, p *peer) error {
	r := request()
	r.Message.Parts = a2a.ContentParts{}
	_, err := p.client.SendMessage(ctx, r)
	return wantError(err, a2a.ErrInvalidParams)
}

func errorFinished(ctx context.Context, p *peer) error {
	task, err := p.completed(ctx, say("echo done"))
	if err != nil {
		return err
	}
	_, err = p.client.SendMessage(ctx, sayTo(task, "echo more"))
	return wantError(err, a2a.ErrUnsupportedOperation)
}

func toUnknownTask() *a2a.SendMessageRequest {
	r := say("echo nobody")
	r.Message.TaskID = unknownTask
	return r
}

func errorUnknownTask(ctx context.Context, p *peer) error {
	_, err := p.client.SendMessage(ctx, toUnknownTask())
	return wantError(err, a2a.ErrTaskNotFound)
}

func errorStream(ctx context.Context, p *peer) error {
	return wantError(streamError(p.stream(ctx, toUnknownTask())), a2a.ErrTaskNotFound)
}
