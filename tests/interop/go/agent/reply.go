package main

import (
	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

// reply emits events until the SDK wants no more; from then on it drops them, as the iterator demands.
type reply struct {
	request *a2asrv.ExecutorContext
	yield   func(a2a.Event, error) bool
	closed  bool
}

func (r *reply) emit(event a2a.Event) {
	if !r.closed && !r.yield(event, nil) {
		r.closed = true
	}
}

// begin makes the task known, unless the message continues one.
func (r *reply) begin() {
	if r.request.StoredTask == nil {
		r.emit(a2a.NewSubmittedTask(r.request, r.request.Message))
	}
}

func (r *reply) work() {
	r.begin()
	r.emit(a2a.NewStatusUpdateEvent(r.request, a2a.TaskStateWorking, nil))
}

func (r *reply) complete() {
	r.emit(a2a.NewStatusUpdateEvent(r.request, a2a.TaskStateCompleted, nil))
}

func (r *reply) status(state a2a.TaskState, text string) {
	message := a2a.NewMessageForTask(a2a.MessageRoleAgent, r.request, a2a.NewTextPart(text))
	r.emit(a2a.NewStatusUpdateEvent(r.request, state, message))
}

// message answers without a task.
func (r *reply) message(text string) {
	message := a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewTextPart(text))
	message.ContextID = r.request.ContextID
	r.emit(message)
}

// chunk is one piece of an artifact.
type chunk struct {
	artifact string
	appended bool
	last     bool
	metadata map[string]any
	parts    []*a2a.Part
}

func (r *reply) chunk(c chunk) {
	event := a2a.NewArtifactEvent(r.request, c.parts...)
	event.Artifact.ID = a2a.ArtifactID(c.artifact)
	event.Artifact.Name = c.artifact
	event.Artifact.Metadata = c.metadata
	event.Append = c.appended
	event.LastChunk = c.last
	r.emit(event)
}

// artifact emits a whole artifact at once.
func (r *reply) artifact(name string, parts ...*a2a.Part) {
	r.chunk(chunk{artifact: name, last: true, parts: parts})
}

// only is the usual answer: work, one artifact, done.
func (r *reply) only(name string, parts ...*a2a.Part) {
	r.work()
	r.artifact(name, parts...)
	r.complete()
}
