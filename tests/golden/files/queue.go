// Package queue holds jobs until a worker takes them.
package queue

import (
	"errors"
	"sync"
)

// ErrClosed is returned after Close.
var ErrClosed = errors.New("queue is closed")

// Job is a unit of work.
type Job struct {
	ID       int
	Priority int
	Run      func() error
}

// Queue is safe for concurrent use.
type Queue struct {
	mu     sync.Mutex
	jobs   []Job
	closed bool
}

// Push adds a job behind those of the same priority.
func (q *Queue) Push(job Job) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return ErrClosed
	}
	at := len(q.jobs)
	for at > 0 && q.jobs[at-1].Priority < job.Priority {
		at--
	}
	q.jobs = append(q.jobs[:at], append([]Job{job}, q.jobs[at:]...)...)
	return nil
}

// Pop returns the first job, and false if there is none.
func (q *Queue) Pop() (Job, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.jobs) == 0 {
		return Job{}, false
	}
	first := q.jobs[0]
	q.jobs = q.jobs[1:]
	return first, true
}
