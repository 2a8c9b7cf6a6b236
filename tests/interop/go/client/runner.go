package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// caseLimit bounds one case.
const caseLimit = 20 * time.Second

// testCase is one line of the contract's table.
type testCase struct {
	name string
	run  func(ctx context.Context, p *peer) error
}

// skipped is returned by a case that this SDK cannot express.
type skipped string

func (s skipped) Error() string { return string(s) }

// verdict is one line of the output.
type verdict struct {
	Case    string `json:"case,omitempty"`
	OK      *bool  `json:"ok,omitempty"`
	Skipped bool   `json:"skipped,omitempty"`
	Detail  string `json:"detail,omitempty"`
	Done    bool   `json:"done,omitempty"`
}

func runAll(ctx context.Context, url string, binding a2a.TransportProtocol) error {
	output := json.NewEncoder(os.Stdout)
	output.SetEscapeHTML(false)
	p, unreachable := connect(ctx, url, binding)
	if unreachable == nil {
		defer p.close()
	}
	for _, c := range cases() {
		err := unreachable
		if err == nil {
			err = runOne(ctx, p, c)
		}
		if err := output.Encode(judge(c.name, err)); err != nil {
			return err
		}
	}
	return output.Encode(verdict{Done: true})
}

// cases lists all cases in the order of the contract.
func cases() []testCase {
	return slices.Concat(
		cardCases, sendCases, subscribeCases, cancelCases, getCases, listCases,
		turnCases, errorCases, partCases, messageCases, artifactCases, metaCases, pushCases,
	)
}

func judge(name string, err error) verdict {
	ok := err == nil
	var reason skipped
	switch {
	case errors.As(err, &reason):
		return verdict{Case: name, Skipped: true, Detail: string(reason)}
	case ok:
		return verdict{Case: name, OK: &ok}
	default:
		return verdict{Case: name, OK: &ok, Detail: shorten(err.Error())}
	}
}

// runOne gives up on a case at its limit, even when the SDK does not heed the context.
func runOne(parent context.Context, p *peer, c testCase) error {
	ctx, cancel := context.WithTimeout(parent, caseLimit)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		defer func() {
			if cause := recover(); cause != nil {
				ended <- fmt.Errorf("panic: %v", cause)
			}
		}()
		ended <- c.run(ctx, p)
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return fmt.Errorf("no end of the case: %w", ctx.Err())
	}
}

// shorten keeps a detail readable when an error quotes megabytes of text.
func shorten(text string) string {
	const limit = 500
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return text
}
