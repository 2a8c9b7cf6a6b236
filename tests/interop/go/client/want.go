package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// wantError asserts a typed error of the SDK.
func wantError(err, wanted error) error {
	switch {
	case err == nil:
		return fmt.Errorf("no error, but %q was due", wanted)
	case !errors.Is(err, wanted):
		return fmt.Errorf("error %q, but %q was due", err, wanted)
	default:
		return nil
	}
}

func wantState(task *a2a.Task, state a2a.TaskState) error {
	if task.Status.State != state {
		return fmt.Errorf("state %s, not %s (status message %q)", task.Status.State, state, statusText(task))
	}
	return nil
}

func wantStatusText(task *a2a.Task, text string) error {
	if got := statusText(task); got != text {
		return fmt.Errorf("status message %q, not %q", got, text)
	}
	return nil
}

func statusText(task *a2a.Task) string {
	if task.Status.Message == nil {
		return ""
	}
	return joined(task.Status.Message.Parts)
}

func wantMessage(event a2a.Event, text string) error {
	message, ok := event.(*a2a.Message)
	if !ok {
		return fmt.Errorf("the answer is a %T, not a message", event)
	}
	if message.Role != a2a.MessageRoleAgent {
		return fmt.Errorf("role %s", message.Role)
	}
	if message.TaskID != "" {
		return fmt.Errorf("the message names the task %s", message.TaskID)
	}
	return wantEqual("message", joined(message.Parts), text)
}

func wantEqual[T comparable](what string, got, wanted T) error {
	if got != wanted {
		return fmt.Errorf("%s: %v, not %v", what, got, wanted)
	}
	return nil
}

// artifact finds an artifact by its name; an SDK may let the agent choose only the name, or only the id.
func artifact(task *a2a.Task, name string) (*a2a.Artifact, error) {
	for _, found := range task.Artifacts {
		if isNamed(found, name) {
			return found, nil
		}
	}
	return nil, fmt.Errorf("no artifact %q among %d", name, len(task.Artifacts))
}

func isNamed(a *a2a.Artifact, name string) bool {
	return a.Name == name || string(a.ID) == name
}

// parts finds the parts of an artifact, which are to be so many.
func parts(task *a2a.Task, name string, count int) (a2a.ContentParts, error) {
	found, err := artifact(task, name)
	if err != nil {
		return nil, err
	}
	if len(found.Parts) != count {
		return nil, fmt.Errorf("artifact %q has %d parts, not %d", name, len(found.Parts), count)
	}
	return found.Parts, nil
}

func wantArtifactText(task *a2a.Task, name, text string) error {
	found, err := artifact(task, name)
	if err != nil {
		return err
	}
	if got := joined(found.Parts); got != text {
		return fmt.Errorf("artifact %q has %d characters %q, not %q", name, len(got), got, text)
	}
	return nil
}

func joined(parts a2a.ContentParts) string {
	var text strings.Builder
	for _, part := range parts {
		text.WriteString(part.Text())
	}
	return text.String()
}
