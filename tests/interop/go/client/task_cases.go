package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

const unknownTask a2a.TaskID = "no-such-task"

var subscribeCases = []testCase{
	{"subscribe.after_cut", subscribeAfterCut},
	{"subscribe.finished", subscribeFinished},
	{"subscribe.unknown", subscribeUnknown},
}

var cancelCases = []testCase{
	{"cancel.running", cancelRunning},
	{"cancel.finished", cancelFinished},
	{"cancel.unknown", cancelUnknown},
}

var getCases = []testCase{
	{"get", get},
	{"get.unknown", getUnknown},
	{"get.history", getHistory},
}

var listCases = []testCase{
	{"list.paging", listPaging},
	{"list.filter", listFilter},
	{"list.artifacts", listArtifacts},
	{"list.page_size", listPageSize},
}

// errCut ends the reading of a stream that the case drops.
var errCut = errors.New("cut")

func subscribeAfterCut(ctx context.Context, p *peer) error {
	key := newKey()
	dropped, err := collect(p.stream(ctx, say("slow "+key)), func(f *fold, _ a2a.Event) error {
		if f.task != nil && wantArtifactText(f.task, "slow", "first") == nil {
			return errCut
		}
		return nil
	})
	if !errors.Is(err, errCut) {
		return fmt.Errorf("the first chunk did not come; the stream ended with: %v", err)
	}
	release := p.releaseAfterFirst(ctx, key)
	f, err := ended(p.subscribe(ctx, dropped.task.ID), a2a.TaskStateCompleted, func(f *fold, event a2a.Event) error {
		if len(f.events) == 1 {
			if err := f.wantTaskFirst(); err != nil {
				return err
			}
			if err := wantArtifactText(f.task, "slow", "first"); err != nil {
				return fmt.Errorf("the first event: %w", err)
			}
		}
		return release(f, event)
	})
	if err != nil {
		return err
	}
	return wantArtifactText(f.task, "slow", "firstsecond")
}

func subscribeFinished(ctx context.Context, p *peer) error {
	task, err := p.completed(ctx, say("echo done"))
	if err != nil {
		return err
	}
	return wantError(streamError(p.subscribe(ctx, task.ID)), a2a.ErrUnsupportedOperation)
}

func subscribeUnknown(ctx context.Context, p *peer) error {
	return wantError(streamError(p.subscribe(ctx, unknownTask)), a2a.ErrTaskNotFound)
}

func cancelRunning(ctx context.Context, p *peer) error {
	task, err := p.task(ctx, immediately(say("hang")))
	if err != nil {
		return err
	}
	canceled, err := p.cancel(ctx, task.ID)
	if err != nil {
		return err
	}
	return errors.Join(wantEqual("id", canceled.ID, task.ID), wantState(canceled, a2a.TaskStateCanceled))
}

func cancelFinished(ctx context.Context, p *peer) error {
	task, err := p.completed(ctx, say("echo done"))
	if err != nil {
		return err
	}
	_, err = p.cancel(ctx, task.ID)
	return wantError(err, a2a.ErrTaskNotCancelable)
}

func cancelUnknown(ctx context.Context, p *peer) error {
	_, err := p.cancel(ctx, unknownTask)
	return wantError(err, a2a.ErrTaskNotFound)
}

func get(ctx context.Context, p *peer) error {
	task, err := p.completed(ctx, say("echo kept"))
	if err != nil {
		return err
	}
	found, err := p.get(ctx, task.ID)
	if err != nil {
		return err
	}
	return errors.Join(
		wantEqual("info", found.TaskInfo(), task.TaskInfo()),
		wantState(found, a2a.TaskStateCompleted),
		wantArtifactText(found, "echo", "kept"),
	)
}

func getUnknown(ctx context.Context, p *peer) error {
	_, err := p.get(ctx, unknownTask)
	return wantError(err, a2a.ErrTaskNotFound)
}

func getHistory(ctx context.Context, p *peer) error {
	task, err := p.taskIn(ctx, a2a.TaskStateInputRequired, say("ask"))
	if err != nil {
		return err
	}
	if _, err := p.completed(ctx, sayTo(task, "this one")); err != nil {
		return err
	}
	for _, length := range []int{1, 0} {
		short, err := p.client.GetTask(ctx, &a2a.GetTaskRequest{ID: task.ID, HistoryLength: &length})
		if err != nil {
			return err
		}
		if len(short.History) > length {
			return fmt.Errorf("historyLength %d gives %d messages", length, len(short.History))
		}
	}
	whole, err := p.get(ctx, task.ID)
	if err != nil {
		return err
	}
	users := 0
	for _, message := range whole.History {
		if message.Role == a2a.MessageRoleUser {
			users++
		}
	}
	if users < 2 {
		return fmt.Errorf("%d messages of the user among %d", users, len(whole.History))
	}
	return nil
}

// inContext completes so many tasks of one context, oldest first.
func (p *peer) inContext(ctx context.Context, count int) ([]*a2a.Task, error) {
	var tasks []*a2a.Task
	contextID := ""
	for i := range count {
		r := say(fmt.Sprintf("echo task %d", i))
		r.Message.ContextID = contextID
		task, err := p.completed(ctx, r)
		if err != nil {
			return nil, err
		}
		contextID = task.ContextID
		tasks = append(tasks, task)
	}
	return tasks, nil
}

func wantListed(list *a2a.ListTasksResponse, wanted ...*a2a.Task) error {
	if len(list.Tasks) != len(wanted) {
		return fmt.Errorf("%d tasks, not %d", len(list.Tasks), len(wanted))
	}
	for i, task := range list.Tasks {
		if task.ID != wanted[i].ID {
			return fmt.Errorf("task %d of the list is another one", i)
		}
	}
	return nil
}

func listPaging(ctx context.Context, p *peer) error {
	tasks, err := p.inContext(ctx, 3)
	if err != nil {
		return err
	}
	query := a2a.ListTasksRequest{ContextID: tasks[0].ContextID, PageSize: 2}
	first, err := p.client.ListTasks(ctx, &query)
	if err != nil {
		return err
	}
	if err := wantListed(first, tasks[2], tasks[1]); err != nil {
		return fmt.Errorf("first page: %w", err)
	}
	if first.NextPageToken == "" {
		return errors.New("nextPageToken is missing")
	}
	query.PageToken = first.NextPageToken
	second, err := p.client.ListTasks(ctx, &query)
	if err != nil {
		return err
	}
	if err := wantListed(second, tasks[0]); err != nil {
		return fmt.Errorf("second page: %w", err)
	}
	return wantEqual("token after the last page", second.NextPageToken, "")
}

func listFilter(ctx context.Context, p *peer) error {
	tasks, err := p.inContext(ctx, 1)
	if err != nil {
		return err
	}
	r := say("ask")
	r.Message.ContextID = tasks[0].ContextID
	asking, err := p.taskIn(ctx, a2a.TaskStateInputRequired, r)
	if err != nil {
		return err
	}
	query := a2a.ListTasksRequest{ContextID: tasks[0].ContextID}
	all, err := p.client.ListTasks(ctx, &query)
	if err != nil {
		return err
	}
	if err := wantListed(all, asking, tasks[0]); err != nil {
		return fmt.Errorf("by context: %w", err)
	}
	query.Status = a2a.TaskStateInputRequired
	open, err := p.client.ListTasks(ctx, &query)
	if err != nil {
		return err
	}
	if err := wantListed(open, asking); err != nil {
		return fmt.Errorf("by context and state: %w", err)
	}
	// This client has a name of its own for the time on HTTP+JSON, which the server takes as well.
	past := time.Date(2020, time.January, 2, 3, 4, 5, 0, time.UTC)
	query.StatusTimestampAfter = &past
	since, err := p.client.ListTasks(ctx, &query)
	if err != nil {
		return err
	}
	if err := wantListed(since, asking); err != nil {
		return fmt.Errorf("by context, state and time: %w", err)
	}
	return nil
}

func listArtifacts(ctx context.Context, p *peer) error {
	tasks, err := p.inContext(ctx, 1)
	if err != nil {
		return err
	}
	query := a2a.ListTasksRequest{ContextID: tasks[0].ContextID}
	for _, included := range []bool{false, true} {
		query.IncludeArtifacts = included
		list, err := p.client.ListTasks(ctx, &query)
		if err != nil {
			return err
		}
		if err := wantListed(list, tasks...); err != nil {
			return err
		}
		if !included {
			if err := wantEqual("artifacts though not asked for", len(list.Tasks[0].Artifacts), 0); err != nil {
				return err
			}
			continue
		}
		if err := wantArtifactText(list.Tasks[0], "echo", "task 0"); err != nil {
			return err
		}
	}
	return nil
}

func listPageSize(ctx context.Context, p *peer) error {
	_, err := p.client.ListTasks(ctx, &a2a.ListTasksRequest{PageSize: 101})
	return wantError(err, a2a.ErrInvalidParams)
}
