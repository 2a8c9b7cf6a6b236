package main

import (
	"errors"
	"fmt"
	"iter"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// fold is what the events of a stream add up to.
type fold struct {
	events []a2a.Event
	task   *a2a.Task
}

// collect reads a stream to its end. After each event it calls watch, whose error ends the reading.
func collect(stream iter.Seq2[a2a.Event, error], watch func(*fold, a2a.Event) error) (*fold, error) {
	f := &fold{}
	for event, err := range stream {
		if err != nil {
			return f, err
		}
		f.add(event)
		if watch == nil {
			continue
		}
		if err := watch(f, event); err != nil {
			return f, err
		}
	}
	return f, nil
}

// ended reads a stream to its end, where its task is to be in the state.
func ended(stream iter.Seq2[a2a.Event, error], state a2a.TaskState, watch func(*fold, a2a.Event) error) (*fold, error) {
	f, err := collect(stream, watch)
	if err != nil {
		return f, err
	}
	if f.task == nil {
		return f, fmt.Errorf("no event of a task among %d", len(f.events))
	}
	if err := wantState(f.task, state); err != nil {
		return f, fmt.Errorf("after %d events: %w", len(f.events), err)
	}
	return f, f.wantSameIDs()
}

func (f *fold) add(event a2a.Event) {
	f.events = append(f.events, event)
	switch e := event.(type) {
	case *a2a.Task:
		f.task = e
	case *a2a.TaskStatusUpdateEvent:
		f.known(e).Status = e.Status
	case *a2a.TaskArtifactUpdateEvent:
		f.addArtifact(f.known(e), e)
	}
}

func (f *fold) known(event a2a.TaskInfoProvider) *a2a.Task {
	if f.task == nil {
		info := event.TaskInfo()
		f.task = &a2a.Task{ID: info.TaskID, ContextID: info.ContextID}
	}
	return f.task
}

func (f *fold) addArtifact(task *a2a.Task, event *a2a.TaskArtifactUpdateEvent) {
	for i, known := range task.Artifacts {
		if known.ID != event.Artifact.ID {
			continue
		}
		if event.Append {
			known.Parts = append(known.Parts, event.Artifact.Parts...)
		} else {
			task.Artifacts[i] = event.Artifact
		}
		return
	}
	task.Artifacts = append(task.Artifacts, event.Artifact)
}

func (f *fold) wantSameIDs() error {
	for i, event := range f.events {
		info := event.TaskInfo()
		if info.TaskID == "" || info.ContextID == "" {
			return fmt.Errorf("event %d (%T) has the task id %q and the context id %q", i, event, info.TaskID, info.ContextID)
		}
		if info != (a2a.TaskInfo{TaskID: f.task.ID, ContextID: f.task.ContextID}) {
			return fmt.Errorf("event %d (%T) is of another task or context", i, event)
		}
	}
	return nil
}

// first is the event that the stream began with.
func (f *fold) first() (a2a.Event, error) {
	if len(f.events) == 0 {
		return nil, errors.New("the stream has no event")
	}
	return f.events[0], nil
}

func (f *fold) wantTaskFirst() error {
	event, err := f.first()
	if err != nil {
		return err
	}
	if _, ok := event.(*a2a.Task); !ok {
		return fmt.Errorf("the first event is a %T, not the task", event)
	}
	return nil
}

// streamError reads a stream that is to begin with an error.
func streamError(stream iter.Seq2[a2a.Event, error]) error {
	f, err := collect(stream, nil)
	if err == nil {
		return fmt.Errorf("the stream ended without an error after %d events: %w", len(f.events), errNoError)
	}
	if len(f.events) > 0 {
		return fmt.Errorf("the error came only after %d events: %v", len(f.events), err)
	}
	return err
}

// errNoError marks a stream that did not fail; no case waits for it.
var errNoError = errors.New("an error was due")
